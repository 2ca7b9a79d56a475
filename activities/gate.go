package activities

import (
	"context"
	"sync"
)

// gate lets some in at a time.
type gate struct {
	once  sync.Once
	slots chan struct{}
}

// enter waits for a place, of which there are most; 0: DefaultDeliveries. leave gives it back.
func (g *gate) enter(ctx context.Context, most int) (leave func(), err error) {
	g.once.Do(func() {
		if most <= 0 {
			most = DefaultDeliveries
		}
		g.slots = make(chan struct{}, most)
	})
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

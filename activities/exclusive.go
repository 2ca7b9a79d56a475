package activities

import (
	"context"
	"sync"
)

// exclusiveSteps makes sure that a batch is at one step at a time: an attempt that Temporal has given up, but that still runs here, is
// stopped first. Two attempts would write the same files of the spool.
type exclusiveSteps struct {
	mu      sync.Mutex
	running map[string]*running // by batch
}

// running is a step of a batch that runs in this process.
type running struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// enter stops what runs of a batch and waits for its end; leave lets the next one in. An attempt that is given up while it waits does not enter: it
// would stop the attempt that Temporal has started in its place.
func (a *exclusiveSteps) enter(ctx context.Context, batch string) (_ context.Context, leave func(), err error) {
	given := ctx
	ctx, cancel := context.WithCancel(ctx)
	mine := &running{cancel, make(chan struct{})}
	for {
		a.mu.Lock()
		if err := given.Err(); err != nil {
			a.mu.Unlock()
			cancel()
			return nil, nil, err
		}
		other := a.running[batch]
		if other == nil {
			if a.running == nil {
				a.running = map[string]*running{}
			}
			a.running[batch] = mine
			a.mu.Unlock()
			break
		}
		a.mu.Unlock()
		other.cancel()
		select {
		case <-other.done:
		case <-given.Done():
		}
	}
	return ctx, func() {
		a.mu.Lock()
		delete(a.running, batch)
		a.mu.Unlock()
		cancel()
		close(mine.done)
	}, nil
}

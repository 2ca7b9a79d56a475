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

// enter stops what runs of a batch and waits for its end; leave lets the next one in.
func (a *exclusiveSteps) enter(ctx context.Context, batch string) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &running{cancel, make(chan struct{})}
	for {
		a.mu.Lock()
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
		<-other.done
	}
	return ctx, func() {
		a.mu.Lock()
		delete(a.running, batch)
		a.mu.Unlock()
		cancel()
		close(mine.done)
	}
}

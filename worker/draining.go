package worker

import (
	"context"
	"sync"
	"time"

	sdk "go.temporal.io/sdk/worker"
)

// stopSlack is how long a worker that stops waits, beyond the setting drain, for steps that it ends then. It waits for nothing else: Temporal's
// SDK takes ten seconds to take leave of a service that does not answer, then lets polls and steps have their time to drain one after the other.
const stopSlack = 3 * time.Second

// draining has the attempts of steps that run, so that a worker that stops can end them and wait for them.
type draining struct {
	mu      sync.Mutex
	running map[*attempt]bool
	over    bool // attempts end at once
}

// attempt is an attempt of a step.
type attempt struct {
	end  context.CancelCauseFunc
	done chan struct{} // closed when it has returned
}

// begin notes an attempt, and returns the context that ends with it. done says that it has returned.
func (d *draining) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, end := context.WithCancelCause(ctx)
	a := &attempt{end: end, done: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		d.running = map[*attempt]bool{}
	}
	if d.running[a] = true; d.over {
		end(sdk.ErrWorkerShutdown)
	}
	return ctx, func() {
		d.mu.Lock()
		delete(d.running, a)
		d.mu.Unlock()
		close(a.done)
		end(nil)
	}
}

// end ends the attempts in the way in which the SDK does, and those that begin later. It waits until they have returned, for a time at most,
// and returns the number of those that have not.
func (d *draining) end(wait time.Duration) (left int) {
	d.mu.Lock()
	d.over = true
	var list []*attempt
	for a := range d.running {
		a.end(sdk.ErrWorkerShutdown)
		list = append(list, a)
	}
	d.mu.Unlock()
	patience := time.After(wait)
	for i, a := range list {
		select {
		case <-a.done:
		case <-patience:
			return len(list) - i
		}
	}
	return 0
}

// stopSteps stops polling for tasks, and returns when no step runs: after the setting drain those that run are ended. What the SDK does beyond
// that, which may be to wait for a service that does not answer, it does beside what follows.
func (w *Worker) stopSteps() {
	stopped := make(chan struct{})
	go func() {
		var all sync.WaitGroup
		for _, tw := range w.workers {
			all.Go(tw.Stop)
		}
		all.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(w.conf.Drain):
	}
	if left := w.steps.end(stopSlack); left > 0 {
		w.log.Warn("the worker stops under steps that do not end; they are tried again", "steps", left, "waited", w.conf.Drain+stopSlack)
	}
}

package worker

import (
	"context"
	"time"
)

// untilStopped returns a context that ends when the worker stops, or by cancel.
func (w *Worker) untilStopped() (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		select {
		case <-w.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// regularly does something at intervals, for the first time after one, until the worker stops. What is done then is cancelled.
func (w *Worker) regularly(every time.Duration, do func(context.Context)) {
	ctx, cancel := w.untilStopped()
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do(ctx)
		case <-w.stopped:
			return
		}
	}
}

package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.temporal.io/sdk/worker"
)

// slowWorker is a worker of Temporal's SDK that takes long to stop, as one does whose service is silent.
type slowWorker struct {
	sdk.Worker
	takes time.Duration
}

func (s slowWorker) Stop() { time.Sleep(s.takes) }

// TestStopWithoutTemporal: a worker stops within drain and stopSlack, whatever Temporal's SDK waits for. Steps have the time of drain, are ended
// then, and are waited for; those that do not end are left. One that is polled meanwhile ends at once.
func TestStopWithoutTemporal(t *testing.T) {
	const drain = 20 * time.Second
	for name, test := range map[string]struct {
		sdk, ends, step time.Duration // how long the SDK takes, a step once it is ended, and a step that nobody ends; 0: there is none
		want            time.Duration
	}{
		"all answer, nothing runs":                {sdk: time.Second, want: time.Second},
		"all answer, a step ends by itself":       {sdk: 5 * time.Second, step: 5 * time.Second, want: 5 * time.Second},
		"Temporal is silent, nothing runs":        {sdk: time.Minute, want: drain},
		"Temporal is silent, a step ends by word": {sdk: time.Minute, step: time.Hour, ends: time.Second, want: drain + time.Second},
		"Temporal is silent, a step does not end": {sdk: time.Minute, step: time.Hour, ends: time.Hour, want: drain + stopSlack},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &Worker{log: slog.New(slog.DiscardHandler), stopped: make(chan struct{})}
				w.conf.Drain, w.workers = drain, []sdk.Worker{slowWorker{takes: test.sdk}, slowWorker{}}
				if test.step > 0 {
					ctx, done := w.steps.begin(t.Context())
					go func() {
						defer done()
						select {
						case <-time.After(test.step):
						case <-ctx.Done():
							if !errors.Is(context.Cause(ctx), sdk.ErrWorkerShutdown) {
								t.Errorf("it is ended by %v", context.Cause(ctx))
							}
							time.Sleep(test.ends)
						}
					}()
				}
				began := time.Now()
				w.Stop()
				if took := time.Since(began); took != test.want {
					t.Errorf("it took %v, want %v", took, test.want)
				}
				ctx, done := w.steps.begin(t.Context())
				defer done()
				if ctx.Err() == nil {
					t.Error("a step begins after that")
				}
				time.Sleep(3 * time.Hour) // of the simulated clock: all that was left ends
			})
		})
	}
}

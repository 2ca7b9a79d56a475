package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
)

// beatEvery lies between two heartbeats of an activity; Temporal takes a worker for dead after many times as long.
const beatEvery = 2 * time.Second

// pulse is the heartbeat of an activity. Short ones have one, too: without it, an activity that its worker is killed in is only
// tried again when its whole time is over.
type pulse struct {
	details atomic.Pointer[func() any]
}

type pulseKey struct{}

// beating makes the heartbeat of an activity, until stop is called.
func beating(ctx context.Context) (_ context.Context, stop func()) {
	p := &pulse{}
	ctx = context.WithValue(ctx, pulseKey{}, p)
	beats, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-beats.Done():
				return
			case <-tick.C:
				var details any
				if make := p.details.Load(); make != nil {
					details = (*make)()
				}
				activity.RecordHeartbeat(beats, details)
			}
		}
	}()
	return ctx, cancel
}

// beatWith has every further heartbeat of an activity call details, and pass on what it returns: how far the activity has come.
func beatWith(ctx context.Context, details func() any) {
	if p, beats := ctx.Value(pulseKey{}).(*pulse); beats {
		p.details.Store(&details)
	}
}

package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
)

// heartbeatEvery lies between two heartbeats of an activity; Temporal takes a worker for dead after twice as long. The SDK sends the
// first at once and others at four fifths of that time, and each costs the server a write: most activities end before the first.
const heartbeatEvery = 5 * time.Second

// heartbeat is the heartbeat of an activity. Short ones have one, too: without it, an activity that its worker is killed in is only
// tried again when its whole time is over.
type heartbeat struct {
	details atomic.Pointer[func() any]
}

type heartbeatKey struct{}

// startHeartbeat makes the heartbeat of an activity, until stop is called.
func startHeartbeat(ctx context.Context) (_ context.Context, stop func()) {
	p := &heartbeat{}
	ctx = context.WithValue(ctx, heartbeatKey{}, p)
	beats, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(heartbeatEvery)
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

// heartbeatWith has every further heartbeat of an activity call details, and pass on what it returns: how far the activity has come.
func heartbeatWith(ctx context.Context, details func() any) {
	if p, beats := ctx.Value(heartbeatKey{}).(*heartbeat); beats {
		p.details.Store(&details)
	}
}

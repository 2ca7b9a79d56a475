package fetch

import (
	"context"
	"io"
	"time"
)

// watch is what may cut an exchange off that is in progress, or free its address for others.
//
// Invariant: an exchange lasts no longer than its lease, unless the lease was given back while it was good: then
// the total timeout bounds it.
type watch struct {
	now   func() time.Time
	grace time.Duration    // that the exchange gets when its context ends
	lease func() time.Time // until when the lease lasts; it may be put off meanwhile
	hold  time.Duration    // after which the lease is given back; 0: never
	yield func() bool      // gives it back; false: not now
}

// leaseLook is how often the lease of an exchange is looked at that takes long: it may be refused meanwhile.
const leaseLook = 2 * time.Second

// watched is how an exchange came through.
type watched struct {
	cut     error // why its connection was closed; nil: it was not
	yielded bool  // its lease was given back
}

// start begins to watch an exchange on a connection. What it returns is called when the exchange is over.
func (w watch) start(ctx context.Context, conn io.Closer) (end func() watched) {
	over, result := make(chan struct{}), make(chan watched, 1)
	go func() { result <- w.until(ctx, conn, over) }()
	return func() watched {
		close(over)
		return <-result
	}
}

func (w watch) until(ctx context.Context, conn io.Closer, over <-chan struct{}) (out watched) {
	stopped := ctx.Done()
	var hurry, yield time.Time // when to close, and to give the lease back; zero: not at all
	if w.hold > 0 && w.yield != nil {
		yield = w.now().Add(w.hold)
	}
	for {
		now, next := w.now(), hurry
		sooner := func(t time.Time) {
			if next.IsZero() || t.Before(next) {
				next = t
			}
		}
		if !out.yielded {
			lease := w.lease()
			switch {
			case !lease.After(now):
				out.cut = errExpired()
			case !yield.IsZero() && !yield.After(now):
				if out.yielded = w.yield(); !out.yielded {
					yield = now.Add(w.hold)
				}
				continue
			}
			sooner(lease)
			sooner(now.Add(leaseLook))
			if !yield.IsZero() {
				sooner(yield)
			}
		}
		if !hurry.IsZero() && !hurry.After(now) {
			out.cut = ctx.Err()
		}
		if out.cut != nil {
			_ = conn.Close()
			return out
		}
		var wake <-chan time.Time
		if !next.IsZero() {
			wake = time.After(next.Sub(now))
		}
		select {
		case <-over:
			return out
		case <-stopped:
			stopped, hurry = nil, w.now().Add(w.grace)
		case <-wake:
		}
	}
}

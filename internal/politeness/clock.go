package politeness

import "time"

// Clock converts Temporal's times to those of a worker. Ahead is what the worker's clock shows when an activity begins, less
// the time at which Temporal says that it did. It is too large by the time that the task took to the worker, never too
// small: a lease begins late rather than early, and Margin covers the deadline.
type Clock struct{ Ahead time.Duration }

// ClockOf is the clock of a worker whose clock shows now in an activity that Temporal started then.
func ClockOf(now, started time.Time) Clock {
	if started.IsZero() {
		return Clock{}
	}
	return Clock{now.Sub(started)}
}

// Earliest is when a holder may make its first request; zero if at once.
func (c Clock) Earliest(g Grant) time.Time {
	if g.NotBefore.IsZero() {
		return g.NotBefore
	}
	return g.NotBefore.Add(c.Ahead)
}

// Host is when a holder may ask its host; zero if at once.
func (c Clock) Host(g Grant) time.Time {
	if g.HostNotBefore.IsZero() {
		return g.HostNotBefore
	}
	return g.HostNotBefore.Add(c.Ahead)
}

// Deadline is when a holder treats its lease as over.
func (c Clock) Deadline(g Grant) time.Time { return g.Deadline.Add(c.Ahead - Margin) }

// Renewed is until when a lease lasts whose renewal was sent then, by the holder's own clock.
func Renewed(sent time.Time) time.Time { return sent.Add(DefaultTTL - Margin) }

// RestOf is how long an address rests from now on that is not to be asked before next, by the same clock. Sent as a
// duration, it counts from when it arrives: clocks that differ do not shorten it.
func RestOf(next, now time.Time) time.Duration { return max(next.Sub(now), 0) }

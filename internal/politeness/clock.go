package politeness

import "time"

// Clock converts Temporal's times to those of a worker. Ahead is what the worker's clock shows when an activity begins, less
// the time at which Temporal says that it did. It is too large by the time that the task took to the worker, never too
// small: a lease begins late rather than early. Least is the smallest that was measured of late: a lease that ends by it does
// not end late because this task, or the process, was held up. Margin covers what the quickest task took.
type Clock struct{ Ahead, Least time.Duration }

// ClockOf is the clock of a worker whose clock shows now in an activity that Temporal started then.
func ClockOf(now, started time.Time) Clock {
	if started.IsZero() {
		return Clock{}
	}
	return Clock{now.Sub(started), now.Sub(started)}
}

// clockAge is for how long a measure of the clock counts, at least: when the worker's clock is set forward, leases end that
// much early until then.
const clockAge = 5 * time.Minute

// Clocks keeps the smallest measures of a worker's clock. Not safe for concurrent use.
type Clocks struct {
	since          time.Time // of the present measures
	before, lately time.Duration
	assumed        bool // before is no measure
}

// Of is the clock of an activity that Temporal started then.
func (k *Clocks) Of(now, started time.Time) Clock {
	c := ClockOf(now, started)
	if started.IsZero() {
		return c
	}
	switch age := now.Sub(k.since); {
	case age >= 2*clockAge || age < 0: // how long this task took is not known: a right clock is not far ahead
		k.since, k.before, k.lately, k.assumed = now, min(c.Ahead, Margin), c.Ahead, true
	case age >= clockAge:
		k.since, k.before, k.lately, k.assumed = now, k.lately, c.Ahead, false
	default:
		k.lately = min(k.lately, c.Ahead)
	}
	c.Least = min(k.before, k.lately)
	return c
}

// Ahead is by how much the worker's clock is ahead of Temporal's, by the task of late that took the shortest time to the worker; false if there was none: a clock that was measured long ago may have been set since.
func (k *Clocks) Ahead(now time.Time) (by time.Duration, known bool) {
	if age := now.Sub(k.since); k.since.IsZero() || age < 0 || age >= 2*clockAge {
		return 0, false
	}
	if by = k.lately; !k.assumed {
		by = min(by, k.before)
	}
	return by, true
}

// NotBefore is when a holder may make its first request; zero if at once.
func (c Clock) NotBefore(g Grant) time.Time { return c.ahead(g.NotBefore) }

// ahead converts a time before which nothing is to be done; zero stays zero.
func (c Clock) ahead(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(c.Ahead)
}

// Deadline is when a holder treats its lease as over.
func (c Clock) Deadline(g Grant) time.Time { return g.Deadline.Add(c.Least - Margin) }

// Local is a grant whose times are by the holder's clock.
func (c Clock) Local(g Grant) Grant {
	g.NotBefore, g.HostNotBefore, g.SlowUntil, g.Deadline = c.NotBefore(g), c.ahead(g.HostNotBefore), c.ahead(g.SlowUntil), c.Deadline(g)
	return g
}

// Renewed is until when a lease lasts whose renewal was sent then, by the holder's own clock.
func Renewed(sent time.Time) time.Time { return sent.Add(DefaultTTL - Margin) }

// RestOf is how long an address rests from now on that is not to be asked before next, by the same clock. Sent as a
// duration, it counts from when it arrives: clocks that differ do not shorten it.
func RestOf(next, now time.Time) time.Duration { return max(next.Sub(now), 0) }

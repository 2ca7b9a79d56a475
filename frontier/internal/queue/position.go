package queue

import "math"

// Position is where an entry stands in its queue: its priority and, among equals, its age.
type Position struct {
	Priority uint16
	Counter  uint64 // of all entries of the crawl, in the order in which they were queued
}

// Before tells whether an entry here is claimed before one at another position.
func (p Position) Before(q Position) bool {
	if p.Priority != q.Priority {
		return p.Priority > q.Priority
	}
	return p.Counter < q.Counter
}

// Last stands behind every entry.
var Last = Position{0, math.MaxUint64}

// first returns the position that stands before the other.
func first(p, q Position) Position {
	if q.Before(p) {
		return q
	}
	return p
}

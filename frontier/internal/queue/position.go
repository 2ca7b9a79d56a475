package queue

import "math"

// Requisite is the priority of what pages need to be shown: it is claimed before all pages, whose priorities are lower.
const Requisite = math.MaxUint16

// best is the highest priority of a page.
const best = Requisite - 1

// Requisite reports whether the entry is that of a requisite.
func (p Position) Requisite() bool { return p.Priority == Requisite }

// Position is where an entry stands in its queue: its priority and, among equals, its age.
type Position struct {
	Priority uint16
	Counter  uint64 // of all entries of the crawl, in the order in which they were queued
}

// Before reports whether an entry here is claimed before one at another position.
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

// Priority maps the score of a page onto the scale of priorities. Scores without an upper bound, those of the update function "sum", are
// bent below 1, which keeps their order.
func Priority(score float64, unbounded bool) uint16 {
	if unbounded {
		score = score / (1 + score)
	}
	switch {
	case !(score > 0):
		return 0
	case score >= 1:
		return best
	}
	return min(uint16(score*math.MaxUint16), best)
}

// Score is the score of a priority, in [0,1].
func Score(priority uint16) float64 {
	if priority >= best {
		return 1
	}
	return float64(priority) / math.MaxUint16
}

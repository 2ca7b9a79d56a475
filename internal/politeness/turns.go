package politeness

import (
	"maps"
	"slices"
)

// turnLength is how far the turn of a crawl of weight 1 moves on with a grant; that of a crawl of a greater weight moves less.
const turnLength = 10_000

// turnBytes is what the JSON form of a turn takes beside the name of the crawl, at most.
const turnBytes = 24

// turnStep is how far the turn of a crawl moves on with a grant.
func turnStep(ask Ask) int64 { return turnLength / int64(max(ask.Weight, 1)) }

// nextWaiter is who gets the address next of asks that wait for it: of the crawls the one whose turn is earliest, and of its asks the first. If the
// state is not fair, which of the executions of earlier versions is none, the first ask gets it.
func (a *address) nextWaiter(fair bool, waiters []*waiter) *waiter {
	first := waiters[0]
	if !fair || len(a.turns) == 0 {
		return first
	}
	for _, w := range waiters { // in the order in which they came: ties go to who came first
		if a.turns[w.Crawl] < a.turns[first.Crawl] {
			first = w
		}
	}
	return first
}

// countTurn moves the turn of a crawl on that gets the address, if others wait there.
//
// Invariant: turns are kept for crawls while at least two have asks for an address. One whose first ask comes starts at the earliest turn
// of those that wait: it gets the address after one grant of each, whatever they had before. One that has had no asks for a while does not get what it has missed.
func (s *State) countTurn(a *address, granted *waiter) {
	if !s.Fair {
		return
	}
	waits := map[string]bool{granted.Crawl: true}
	for _, w := range a.waiters {
		waits[w.Crawl] = true
	}
	if len(waits) < 2 {
		s.clearTurns(a)
		return
	}
	if len(a.turns) == 0 {
		s.setTurn(a, granted.Crawl, 0)
	}
	s.setTurns(a)
	s.setTurn(a, granted.Crawl, a.turns[granted.Crawl]+turnStep(granted.Ask))
}

// setTurns gives crawls whose first asks have come since the last grant their turns, before the next one is granted.
func (s *State) setTurns(a *address) {
	if !s.Fair || len(a.turns) == 0 {
		return
	}
	earliest, known := int64(0), false
	for _, w := range a.waiters {
		if turn, is := a.turns[w.Crawl]; is && (!known || turn < earliest) {
			earliest, known = turn, true
		}
	}
	for _, w := range a.waiters {
		if _, is := a.turns[w.Crawl]; !is {
			s.setTurn(a, w.Crawl, earliest)
		}
	}
}

// limitTurn keeps a crawl that had no asks for a while from getting the address for as long as it was away: its turn is at most
// turnLength before those of the crawls that wait, which is one grant of each of them.
func (s *State) limitTurn(a *address, crawl string) {
	turn, is := a.turns[crawl]
	if !s.Fair || !is {
		return
	}
	earliest, others := int64(0), false
	for _, w := range a.waiters {
		if w.Crawl == crawl {
			return
		}
		if of, known := a.turns[w.Crawl]; known && (!others || of < earliest) {
			earliest, others = of, true
		}
	}
	if others && turn < earliest-turnLength {
		s.setTurn(a, crawl, earliest-turnLength)
	}
}

func (s *State) setTurn(a *address, crawl string, turn int64) {
	if a.turns == nil {
		a.turns = map[string]int64{}
	}
	if _, known := a.turns[crawl]; !known {
		s.bytes += turnBytes + len(crawl)
	}
	a.turns[crawl] = turn
}

func (s *State) clearTurns(a *address) {
	for _, crawl := range slices.Sorted(maps.Keys(a.turns)) { // Politeness is replayed
		s.bytes -= turnBytes + len(crawl)
	}
	a.turns = nil
}

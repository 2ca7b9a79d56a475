package politeness

import (
	"container/heap"
	"time"
)

// agenda is a heap of addresses by when they are due. Ties go by address: the order in which addresses come out must not
// depend on the order in which they came in: a state that was written and read again must behave like the first.
type agenda struct {
	items []*address
	steps int // comparisons made: what a round costs
}

func (g *agenda) Len() int { return len(g.items) }
func (g *agenda) Less(i, j int) bool {
	g.steps++
	a, b := g.items[i], g.items[j]
	if c := a.due.Compare(b.due); c != 0 {
		return c < 0
	}
	return a.ip < b.ip
}
func (g *agenda) Swap(i, j int) {
	g.items[i], g.items[j] = g.items[j], g.items[i]
	g.items[i].at, g.items[j].at = i, j
}
func (g *agenda) Push(x any) {
	a := x.(*address)
	a.at, a.list = len(g.items), g
	g.items = append(g.items, a)
}
func (g *agenda) Pop() any {
	a := g.items[len(g.items)-1]
	g.items[len(g.items)-1] = nil
	g.items = g.items[:len(g.items)-1]
	a.list = nil
	return a
}

// put enters an address, or moves it to its new time.
func (g *agenda) put(a *address, due time.Time) {
	if a.list == g {
		a.due = due
		heap.Fix(g, a.at)
		return
	}
	a.leave()
	a.due = due
	heap.Push(g, a)
}

// leave takes an address out of the agenda that it is in.
func (a *address) leave() {
	if a.list != nil {
		heap.Remove(a.list, a.at)
	}
}

// first is the address that is due first; nil if there is none.
func (g *agenda) first() *address {
	if len(g.items) == 0 {
		return nil
	}
	return g.items[0]
}

// schedule enters an address where it belongs: nothing is to be done for an address that rests, so it wakes nobody. Nor for one at which all asks wait for hosts that are
// asked at other addresses: the end of those leases touches it (pass.free). If it stayed entered, at no time, the shard would wake every ten milliseconds until then.
func (s *State) schedule(a *address, now time.Time) {
	if a.empty() {
		s.idle.put(a, a.next)
		return
	}
	if wake := s.wake(a, now); !wake.IsZero() {
		s.busy.put(a, wake)
		return
	}
	a.leave()
}

// wake is when something is to be done, after now, for an address with leases or asks; zero if nothing is, before something happens at another one. What can be granted now is granted
// before.
func (s *State) wake(a *address, now time.Time) time.Time {
	var wake time.Time
	sooner := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	for _, h := range a.holders {
		sooner(h.Deadline)
	}
	if at := s.grantsAt(a, now); !at.IsZero() {
		sooner(at)
	}
	return wake
}

// Wake is the next moment at which Tick has something to do; false if there is none.
func (s *State) Wake() (time.Time, bool) {
	if a := s.busy.first(); a != nil {
		return a.due, true
	}
	return time.Time{}, false
}

// forget drops the addresses of which nothing more is known than of any other.
func (s *State) forget(now time.Time) {
	known := now
	if s.Floor.After(known) {
		known = s.Floor
	}
	for a := s.idle.first(); a != nil && !a.next.After(known); a = s.idle.first() {
		a.leave()
		s.remove(a)
	}
}

// makeRoom makes room for so many bytes of JSON, if necessary by forgetting addresses that rest for MaxFloor at most, those with the shortest rest first. It
// reports whether there is enough.
func (s *State) makeRoom(now time.Time, bytes int) bool {
	for s.bytes+bytes > MaxBytes {
		a := s.idle.first()
		if a == nil {
			return false
		}
		floor := a.next
		if limit := ceilMillis(now.Add(MaxFloor)); floor.After(limit) {
			if s.Exact { // an address that is unknown would be asked too early
				return false
			}
			floor = limit
		}
		if floor.After(s.Floor) {
			s.Floor = floor
		}
		a.leave()
		s.remove(a)
	}
	return true
}

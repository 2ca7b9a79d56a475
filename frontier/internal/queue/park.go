package queue

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// parked is a queue that is put off until a time because enough claims want its address.
type parked struct {
	q     *Queue
	until time.Time
}

// parks reports whether a queue is still put off by this.
func (s *Schedule) parks(p parked) bool {
	return p.q.heap == &s.later && p.q.index >= 0 && p.q.Next.Equal(p.until)
}

// Park puts a queue off for whose address enough claims wait, until a time at the latest. Recall brings it back before that: to read all queues of a
// crowded address again and again would cost more than those of all others.
func (s *Schedule) Park(q *Queue, address string, until, now time.Time) {
	q.Next = times.Latest(q.Next, until)
	list := s.parked[address]
	if len(list) == cap(list) { // before it grows
		list = slices.DeleteFunc(list, func(p parked) bool { return !s.parks(p) })
	}
	s.parked[address] = append(list, parked{q, q.Next})
	s.Place(q, now)
}

// Recall brings back the n best queues that are parked for an address.
func (s *Schedule) Recall(address string, n int, now time.Time) {
	list, is := s.parked[address]
	if !is {
		return
	}
	list = slices.DeleteFunc(list, func(p parked) bool { return !s.parks(p) })
	for ; n > 0 && len(list) > 0; n-- {
		best := 0
		for i := range list {
			if ahead(list[i].q, list[best].q) {
				best = i
			}
		}
		q := list[best].q
		list = slices.Delete(list, best, best+1)
		q.Next = now
		s.Place(q, now)
	}
	if s.parked[address] = list; len(list) == 0 {
		delete(s.parked, address)
	}
}

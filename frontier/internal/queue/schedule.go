package queue

import (
	"container/heap"
	"slices"
	"time"
)

// Schedule holds the queues of a crawl.
type Schedule struct {
	ready, later, idle heapOf              // of claims: a queue stands in one of them, or in none
	parked             map[string][]parked // by address; they stand in later
	counts
	market
}

// NewSchedule returns an empty schedule.
func NewSchedule() *Schedule {
	byTime := func(a, b *Queue) bool { return a.Due().Before(b.Due()) }
	index := func(q *Queue) *int32 { return &q.index }
	return &Schedule{
		ready: heapOf{less: ahead, index: index}, later: heapOf{less: byTime, index: index}, idle: heapOf{less: byTime, index: index},
		counts: newCounts(), market: newMarket(), parked: map[string][]parked{},
	}
}

// Place puts a queue where it belongs now, which may be nowhere: a busy queue, a paused one, and one whose budget is spent give nothing.
func (s *Schedule) Place(q *Queue, now time.Time) {
	s.Remove(q)
	s.count(q, now)
	s.supplies(q)
	switch {
	case q.Busy, q.Paused && q.Waiting > 0:
		return
	case q.Waiting == 0:
		q.heap = &s.idle
	case q.Spent && !q.Stopped && q.Requisites == 0:
		return
	case !q.Due().After(now):
		q.heap = &s.ready
	default:
		q.heap = &s.later
	}
	heap.Push(q.heap, q)
	if q.heap == &s.ready {
		s.isReady(q, 1)
	}
}

// Remove takes a queue of which a claim is in progress from where it may be claimed from.
func (s *Schedule) Remove(q *Queue) {
	if q.index >= 0 {
		heap.Remove(q.heap, int(q.index))
		s.isReady(q, 0)
	}
}

// Drop takes out a queue that is gone: what is known of it does not count any more.
func (s *Schedule) Drop(q *Queue) {
	s.Remove(q)
	s.leaves(q)
}

// Pop takes the ready queue of the highest value; nil if none is ready.
func (s *Schedule) Pop(now time.Time) *Queue {
	s.Promote(now)
	if s.ready.Len() == 0 {
		return nil
	}
	q := heap.Pop(&s.ready).(*Queue)
	s.isReady(q, 0)
	return q
}

// Promote makes the queues ready whose time has come.
func (s *Schedule) Promote(now time.Time) {
	for s.later.Len() > 0 && !s.later.items[0].Due().After(now) {
		s.Place(s.later.items[0], now)
	}
}

// NextTime is when a queue becomes ready; the zero time if one is, false if there is none.
func (s *Schedule) NextTime() (time.Time, bool) {
	switch {
	case s.ready.Len() > 0:
		return time.Time{}, true
	case s.later.Len() > 0:
		return s.later.items[0].Due(), true
	}
	return time.Time{}, false
}

// NextDue is when the next of the queues that rest becomes ready; false if none rests.
func (s *Schedule) NextDue() (time.Time, bool) {
	if s.later.Len() == 0 {
		return time.Time{}, false
	}
	return s.later.items[0].Due(), true
}

// RequisitesBy reports whether a queue with requisites may be claimed from by a time.
func (s *Schedule) RequisitesBy(t time.Time) bool {
	if s.requisites == 0 {
		return false
	}
	with := func(q *Queue) bool { return q.Requisites > 0 && !q.Stopped && !q.Due().After(t) }
	return slices.ContainsFunc(s.ready.items, with) || slices.ContainsFunc(s.later.items, with)
}

// Claimable counts the queues that may be claimed from, now or later; Resting those of them that rest.
func (s *Schedule) Claimable() int { return s.ready.Len() + s.later.Len() }

// Resting counts the queues with URLs whose time has not come.
func (s *Schedule) Resting() int { return s.later.Len() }

// PopIdle takes the queue that has had no entries and no rest for longest, if there are more than so many; nil if there are not,
// or all others rest.
func (s *Schedule) PopIdle(most int, now time.Time) *Queue {
	if s.idle.Len() <= most || s.idle.items[0].Due().After(now) {
		return nil
	}
	q := heap.Pop(&s.idle).(*Queue)
	s.leaves(q)
	return q
}

// heapOf is a heap of queues, each of which knows its index.
type heapOf struct {
	items []*Queue
	less  func(a, b *Queue) bool
	index func(q *Queue) *int32
}

func (h *heapOf) Len() int           { return len(h.items) }
func (h *heapOf) Less(i, j int) bool { return h.less(h.items[i], h.items[j]) }
func (h *heapOf) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.index(h.items[i]), *h.index(h.items[j]) = int32(i), int32(j)
}
func (h *heapOf) Push(x any) {
	q := x.(*Queue)
	*h.index(q) = int32(len(h.items))
	h.items = append(h.items, q)
}
func (h *heapOf) Pop() any {
	q := h.items[len(h.items)-1]
	h.items[len(h.items)-1] = nil // an evicted queue must not be kept by the heap
	h.items = h.items[:len(h.items)-1]
	*h.index(q) = -1
	return q
}

package queue

import (
	"cmp"
	"container/heap"
	"strings"
	"time"
)

// slowAfter is how long a queue rests at least that counts as slow.
const slowAfter = 10 * time.Second

// counts are what displays ask of all queues at once. They are kept up to date whenever a queue is placed: a walk over a million
// queues would stop all claims for some 50 ms.
type counts struct {
	longest heapOf // queues with entries and a budget: those with most entries first
	slowest heapOf // slow queues: those that rest longest first
	ending  heapOf // slow queues whose host could be reached: those first that are slow no more first, as their time comes near
	queues  int    // with entries
	spent   int    // entries of queues without a budget, but for requisites

	requisites int // entries that are
}

// counted is what the counts know of a queue: a queue that has changed and is not placed yet must not upset the heaps.
type counted struct {
	waiting int
	spent   int
	needed  int   // requisites
	due     int64 // Unix nanoseconds; of a slow queue
	slow    bool
	failing bool
}

func newCounts() counts {
	return counts{
		longest: heapOf{index: func(q *Queue) *int32 { return &q.longest }, less: func(a, b *Queue) bool {
			if a.counted.waiting != b.counted.waiting {
				return a.counted.waiting > b.counted.waiting
			}
			return a.Name < b.Name
		}},
		slowest: heapOf{index: func(q *Queue) *int32 { return &q.slowest }, less: func(a, b *Queue) bool {
			return cmp.Or(cmp.Compare(b.counted.due, a.counted.due), strings.Compare(a.Name, b.Name)) < 0
		}},
		ending: heapOf{index: func(q *Queue) *int32 { return &q.ending }, less: func(a, b *Queue) bool {
			return a.counted.due < b.counted.due
		}},
	}
}

// count brings the counts up to a queue.
func (c *counts) count(q *Queue, now time.Time) {
	is := counted{waiting: q.Waiting, needed: q.Requisites}
	if q.Spent && !q.Stopped {
		is.spent = q.Waiting - q.Requisites
	}
	if due := q.Due(); q.Waiting > 0 && (q.Fails > 0 || due.Sub(now) > slowAfter) {
		is.slow, is.failing = true, q.Fails > 0
		if !due.IsZero() {
			is.due = due.UnixNano()
		}
	}
	was := q.counted
	if is == was && q.longest >= 0 == (is.waiting > 0 && !q.Spent) {
		return
	}
	for _, h := range []*heapOf{&c.longest, &c.slowest, &c.ending} {
		if at := *h.index(q); at >= 0 {
			heap.Remove(h, int(at))
		}
	}
	if was.waiting > 0 {
		c.queues--
	}
	if is.waiting > 0 {
		c.queues++
	}
	c.spent += is.spent - was.spent
	c.requisites += is.needed - was.needed
	q.counted = is
	if is.waiting > 0 && !q.Spent {
		heap.Push(&c.longest, q)
	}
	if is.slow {
		heap.Push(&c.slowest, q)
	}
	if is.slow && !is.failing {
		heap.Push(&c.ending, q)
	}
}

// Queues counts the queues that have entries.
func (c *counts) Queues() int { return c.queues }

// SpentEntries counts the entries of queues whose budget is spent.
func (c *counts) SpentEntries() int { return c.spent }

// Longest returns the queue with a budget in which most entries wait; nil if nothing waits.
func (c *counts) Longest() *Queue {
	if c.longest.Len() == 0 {
		return nil
	}
	return c.longest.items[0]
}

// Slow counts the queues with entries that rest for more than slowAfter, or whose host could not be reached, and lists those of them
// that rest longest, at most so many.
func (c *counts) Slow(now time.Time, most int) (n int, list []*Queue) {
	for c.ending.Len() > 0 && c.ending.items[0].counted.due <= now.Add(slowAfter).UnixNano() {
		q := heap.Pop(&c.ending).(*Queue)
		heap.Remove(&c.slowest, int(q.slowest))
		q.counted.slow = false
	}
	open := []int{0} // whose parents are listed
	for len(list) < most && len(list) < c.slowest.Len() {
		best := 0
		for i := range open {
			if c.slowest.Less(open[i], open[best]) {
				best = i
			}
		}
		at := open[best]
		list = append(list, c.slowest.items[at])
		open = append(open[:best], open[best+1:]...)
		for child := 2*at + 1; child <= 2*at+2 && child < c.slowest.Len(); child++ {
			open = append(open, child)
		}
	}
	return c.slowest.Len(), list
}

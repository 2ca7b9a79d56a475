package frontier

import (
	"container/heap"
	"math"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
)

// queue is a PLD's queue as memory knows it.
type queue struct {
	pld     uint64
	name    string
	next    time.Time     // not before: the host's own pace
	host    time.Time     // not before: what all crawls know of the host; hosts.inform sets it
	delay   time.Duration // the longest Crawl-delay that its hosts have asked for
	rest    time.Time     // not before: a batch of it has failed
	waiting int           // entries, claimed ones included
	busy    bool          // a claim is out: one at a time
	fails   int           // batches in a row that could not reach the host
	done    tally         // of this run
	best    place         // of the first entry that is not claimed, or better
	floor   place         // no live entry stands before it; where reading begins
	since   place         // of the first entry that came in since a claim began to read
	sweep   place         // where the weighing of waiting entries goes on; the zero place is the end of the queue
	pace    time.Duration // that a page has taken lately, pauses included; 0: not known
	costly  bool          // the time that its pages take counts against it
	heap    *queueHeap    // of the schedule that it stands in, if index says that it does
	index   int           // in its heap, −1 if in none
	spent   bool          // its PLD budget is spent

	unread map[string]int // LaneEnd.Unread; never changed in place
}

// tally counts what a queue has given: pages, and answers of any kind.
type tally struct{ pages, requests int64 }

// left is how many more URLs the budgets leave to a queue that has given so much.
func (t tally) left(b crawl.Budget) int64 {
	if b.PerPLD == 0 {
		return math.MaxInt64
	}
	return min(b.PerPLD-t.pages, b.MaxRequestsPerPLD()-t.requests)
}

// queueMeta is what is kept of a queue.
type queueMeta struct {
	Name  string `cbor:"1,keyasint"`
	Next  int64  `cbor:"2,keyasint,omitempty"` // Unix milliseconds
	Fails int    `cbor:"3,keyasint,omitempty"`
	Done  int64  `cbor:"4,keyasint,omitempty"`
	Run   uint32 `cbor:"5,keyasint"`
	Rest  int64  `cbor:"6,keyasint,omitempty"` // Unix milliseconds
	Pace  int64  `cbor:"7,keyasint,omitempty"` // milliseconds
	Delay int64  `cbor:"8,keyasint,omitempty"` // milliseconds
	Asked int64  `cbor:"20,keyasint,omitempty"`

	Unread map[string]int `cbor:"23,keyasint,omitempty"` // 21 was a number
}

// meta is the queue as it is kept. Frontier.mu is held.
func (q *queue) meta() queueMeta {
	m := queueMeta{
		Name: q.name, Next: millis(q.next), Fails: q.fails, Unread: q.unread, Done: q.done.pages, Asked: q.done.requests, Pace: q.pace.Milliseconds(), Delay: q.delay.Milliseconds(),
	}
	m.keepRest(q.rest)
	return m
}

func (m *queueMeta) keepRest(until time.Time) {
	if m.Rest = 0; !until.IsZero() {
		m.Rest = millis(until)
	}
}

// Where an order learns, a queue whose pages take long gives way to others: what its first entry is worth is halved for
// each halfPace that a page takes, at most maxCost times.
const (
	halfPace = 30 * time.Second
	maxCost  = 4
)

// worth is that of the queue's first entry, by what it costs.
func (q *queue) worth() float64 {
	worth := float64(q.best.priority)
	if !q.costly {
		return worth
	}
	return worth * math.Exp2(-min(float64(q.pace)/float64(halfPace), maxCost))
}

// paced is the pace of a queue with a claim that is free for others from a time on.
func (q *queue) paced(c *Claim, until time.Time) time.Duration {
	if c.Earliest.IsZero() || len(c.URLs) == 0 {
		return q.pace
	}
	now := max(until.Sub(c.Earliest), 0) / time.Duration(len(c.URLs))
	if q.pace == 0 {
		return now
	}
	return (q.pace + now) / 2
}

// ahead tells whether a queue is claimed from before another.
func ahead(a, b *queue) bool {
	if x, y := a.worth(), b.worth(); x != y {
		return x > y
	}
	return a.best.before(b.best)
}

// due is when the queue may be claimed from.
func (q *queue) due() time.Time { return times.Latest(times.Latest(q.next, q.rest), q.host) }

// schedule holds the queues that have something to give: those whose time has come by their best
// priority, the others by their time. The idle ones have no URLs and no claim, and stand by their time too: see evict.
type schedule struct {
	ready queueHeap
	later queueHeap
	idle  queueHeap
}

func newSchedule() *schedule {
	byTime := func(a, b *queue) bool { return a.due().Before(b.due()) }
	return &schedule{ready: queueHeap{less: ahead}, later: queueHeap{less: byTime}, idle: queueHeap{less: byTime}}
}

// place puts a queue where it belongs now.
func (o *schedule) place(q *queue, now time.Time) {
	o.remove(q)
	switch {
	case q.busy:
		return
	case q.waiting == 0:
		q.heap = &o.idle
	case q.spent:
		return
	case !q.due().After(now):
		q.heap = &o.ready
	default:
		q.heap = &o.later
	}
	heap.Push(q.heap, q)
}

func (o *schedule) remove(q *queue) {
	if q.index >= 0 {
		heap.Remove(q.heap, q.index)
	}
}

// pop takes the ready queue with the best priority; nil if none is ready.
func (o *schedule) pop(now time.Time) *queue {
	o.promote(now)
	if o.ready.Len() == 0 {
		return nil
	}
	return heap.Pop(&o.ready).(*queue)
}

// promote makes the queues ready whose time has come.
func (o *schedule) promote(now time.Time) {
	for o.later.Len() > 0 && !o.later.items[0].due().After(now) {
		o.place(o.later.items[0], now)
	}
}

// nextTime is when a queue becomes ready; the zero time if one is, false if there is none.
func (o *schedule) nextTime() (time.Time, bool) {
	switch {
	case o.ready.Len() > 0:
		return time.Time{}, true
	case o.later.Len() > 0:
		return o.later.items[0].due(), true
	}
	return time.Time{}, false
}

type queueHeap struct {
	items []*queue
	less  func(a, b *queue) bool
}

func (h *queueHeap) Len() int           { return len(h.items) }
func (h *queueHeap) Less(i, j int) bool { return h.less(h.items[i], h.items[j]) }
func (h *queueHeap) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index, h.items[j].index = i, j
}
func (h *queueHeap) Push(x any) {
	q := x.(*queue)
	q.index = len(h.items)
	h.items = append(h.items, q)
}
func (h *queueHeap) Pop() any {
	q := h.items[len(h.items)-1]
	h.items[len(h.items)-1] = nil // an evicted queue must not be kept by the heap
	h.items = h.items[:len(h.items)-1]
	q.index = -1
	return q
}

// queue returns the queue of a PLD and makes it if there is none.
func (s *state) queue(pld uint64, name string) *queue {
	q, known := s.queues[pld]
	if !known {
		q = &queue{pld: pld, costly: s.learner() != nil, index: -1, best: lastPlace, floor: lastPlace, since: lastPlace}
		s.queues[pld] = q
		s.hosts.inform(s, q)
	}
	if name != "" {
		q.name = name
	}
	return q
}

// added counts an entry.
func (q *queue) added(at place) {
	q.waiting++
	if at.before(q.best) {
		q.best = at
	}
	if at.before(q.floor) {
		q.floor = at
	}
	if at.before(q.since) {
		q.since = at
	}
}

// loaded counts an entry that was there before.
func (q *queue) loaded(at place, taken bool) {
	q.waiting++
	if at.before(q.floor) {
		q.floor = at
	}
	if !taken && at.before(q.best) {
		q.best = at
	}
}

func (s *state) pldSpent(q *queue) bool {
	return q.done.left(s.Definition.Budget) <= 0
}

func (s *state) saveMeta(txn *badger.Txn, pld uint64, m queueMeta) error {
	m.Run = s.Run
	return setCBOR(txn, pldKey(kindMeta, s.id, pld), m)
}

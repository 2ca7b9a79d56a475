package queue

import (
	"math"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
)

// Queue is a PLD's queue as memory knows it. After a change of anything that the schedule goes by, Schedule.Place is called.
type Queue struct {
	PLD  uint64 // its hash
	Name string

	// When it may be claimed from: not before any of these.
	Next time.Time // the host's own pace
	Host time.Time // what all crawls know of the host
	Rest time.Time // a batch of it has failed

	// What it goes by, and what is kept of its host.
	Delay  time.Duration  // the longest Crawl-delay that its hosts have asked for
	Pace   time.Duration  // that a page has taken lately, pauses included; 0: not known
	Costly bool           // the time that its pages take counts against it
	Fails  int            // batches in a row that could not reach the host
	Unread map[string]int // by origin, batches in a row that could not ask for robots.txt; never changed in place

	Waiting int // entries, claimed ones included
	// Requisites counts those of them that are requisites of pages. They do not count for the budget: they are claimed though it is spent.
	Requisites int
	Run        uint32 // that Done, Fails, Unread and Rest are of
	Done       Tally  // of the run
	Left       int64  // what its PLD budget leaves, in URLs
	Spent      bool   // that is nothing
	Busy       bool   // a claim reads it, or is in progress

	// What operators have ordered.
	Paused  bool    // nothing is claimed of it
	Stopped bool    // its entries end, whatever it waits for
	Weight  float64 // multiplies the value of its first entry

	Best, Floor, Since, Sweep Position // cursors: see the package's drawing

	heap                            *heapOf // of claims; nil if it stands in none
	index, longest, slowest, ending int32   // in their heaps; −1 if in none
	counted                         counted // by the schedule
	supplied                        supplied
}

// New returns an empty queue.
func New(pld uint64) *Queue {
	return &Queue{PLD: pld, Weight: 1, Left: math.MaxInt64, Best: Last, Floor: Last, Since: Last, index: -1, longest: -1, slowest: -1, ending: -1}
}

// Tally counts what a queue has given: pages, and answers of any kind.
type Tally struct {
	Pages, Requests int64
	Judged          int64   // pages of which the order has said what they are worth
	Worth           float64 // the mean of that, of the last ones above all: see Judge
}

// Left is how many more URLs the budgets leave to a queue that has given so much.
func (t Tally) Left(b crawl.Budget) int64 {
	if b.PerPLD == 0 {
		return math.MaxInt64
	}
	return min(b.PerPLD-t.Pages, b.MaxRequestsPerPLD()-t.Requests)
}

// Limit says what the budget of the PLD leaves.
func (q *Queue) Limit(left int64) { q.Left, q.Spent = left, left <= 0 }

// Add counts a new entry.
func (q *Queue) Add(at Position) {
	q.count(at)
	q.Best, q.Floor, q.Since = first(q.Best, at), first(q.Floor, at), first(q.Since, at)
}

// Load counts an entry that was there before; claimed ones do not wait.
func (q *Queue) Load(at Position, claimed bool) {
	q.count(at)
	if q.Floor = first(q.Floor, at); !claimed {
		q.Best = first(q.Best, at)
	}
}

func (q *Queue) count(at Position) {
	if q.Waiting++; at.Requisite() {
		q.Requisites++
	}
}

// Leave counts entries that are no longer there.
func (q *Queue) Leave(entries, requisites int) {
	q.Waiting -= entries
	q.Requisites -= requisites
}

// StartRead says that a claim reads the queue from its floor on.
func (q *Queue) StartRead() { q.Busy, q.Since = true, Last }

// Read is what a claim has found.
type Read struct {
	Floor Position // of the first live entry
	After Position // of the first entry after those of the claim; of use if there is a claim
	Claim bool     // there is a claim: entries before After are in progress with it
}

// EndRead moves the cursors to where a claim has found them, or before that if entries came in meanwhile.
func (q *Queue) EndRead(found Read) {
	q.Floor, q.Best = found.Floor, found.Floor
	if found.Claim {
		q.Best = found.After
	}
	q.Floor, q.Best = first(q.Floor, q.Since), first(q.Best, q.Since)
}

// Free says that no claim is in progress any more; back says that some of its entries are left in the queue.
func (q *Queue) Free(back bool) {
	if q.Busy = false; back {
		q.Best = q.Floor
	}
}

// Enter drops what a queue has given and suffered in another run than the present one.
func (q *Queue) Enter(run uint32) {
	if q.Run == run {
		return
	}
	q.Run, q.Done, q.Fails, q.Unread, q.Rest = run, Tally{}, 0, nil, time.Time{}
}

// Due is when the queue may be claimed from.
func (q *Queue) Due() time.Time {
	if q.Stopped {
		return time.Time{}
	}
	return times.Latest(times.Latest(q.Next, q.Rest), q.Host)
}

// PaceAfter is the pace of a queue with a claim of so many pages that could be asked for from a time on, and is free for others from another.
func (q *Queue) PaceAfter(pages int, from, until time.Time) time.Duration {
	if from.IsZero() || pages == 0 {
		return q.Pace
	}
	now := max(until.Sub(from), 0) / time.Duration(pages)
	if q.Pace == 0 {
		return now
	}
	return (q.Pace + now) / 2
}

// Where an order learns, a queue whose pages take long gives way to others: the value of its first entry is halved for
// each halfPace that a page takes, at most maxCost times.
const (
	halfPace = 30 * time.Second
	maxCost  = 4
)

// value is that of the queue's first entry: its priority, less what it costs.
func (q *Queue) value() float64 {
	value := float64(q.Best.Priority) * q.Weight
	if !q.Costly {
		return value
	}
	return value * math.Exp2(-min(float64(q.Pace)/float64(halfPace), maxCost))
}

// ahead reports whether a queue is claimed from before another: those of requisites first.
func ahead(a, b *Queue) bool {
	if x, y := a.Best.Requisite(), b.Best.Requisite(); x != y {
		return x
	}
	if x, y := a.supplied.turn, b.supplied.turn; x != y {
		return x < y
	}
	if x, y := a.value(), b.value(); x != y {
		return x > y
	}
	return a.Best.Before(b.Best)
}

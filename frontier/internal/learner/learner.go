// Package learner has what the order of a crawl has learned, under a lock of its own: a gradient step for each page of a batch
// and the encoding of some megabytes must not stop the claims, commits and questions of all crawls.
//
// The life of an update, which is what a batch teaches:
//
//  1. A commit writes it to the log of updates, with the next number, in the transaction that its pages are in.
//  2. Once that is on disk, Add queues it. The frontier's lock is held, so that updates come in the order of their numbers, but
//     nothing is learned yet.
//  3. The commit calls Train, without the frontier's lock, and returns when the update is learned. Until then the learner is
//     Behind, and nothing is claimed of this crawl: the next claim uses what its pages have taught. Other crawls continue.
//  4. After so many pages (Every; those of other workers count less), Due asks for a snapshot: what was learned of all updates so far. Once that is on disk, the
//     updates that it holds are deleted from the log.
//
// A frontier that is opened restores the last snapshot and trains the updates behind it, in their order.
package learner

import (
	"sync"
	"sync/atomic"

	"github.com/muninn-archive/muninn/internal/order"
)

// SnapshotEvery is after how many visited pages a snapshot is due, unless the learner says otherwise. A snapshot of a young order has 2 MB,
// and so have the updates of a thousand pages.
const SnapshotEvery = 4000

// takenPart is how many pages of other workers count as one for that: each worker of a spread crawl learns from the pages of all, and a snapshot of megabytes after as
// many pages of all would cost each of them as much as one worker. The log is as many times longer at most; 16,000 updates are learned within a second.
const takenPart = 4

// Update is what is learned together.
type Update struct {
	Examples [][]byte      `cbor:"1,keyasint,omitempty"` // pages of the topic, in place of those before
	Visits   []order.Visit `cbor:"2,keyasint,omitempty"`
	From     string        `cbor:"3,keyasint,omitempty"` // the stream of another worker that it was taken from; "": this one's own
}

// Empty reports whether there is nothing to learn.
func (u *Update) Empty() bool { return len(u.Examples)+len(u.Visits) == 0 }

// Learner is what the order of a crawl has learned. Its methods are safe for concurrent use.
type Learner struct {
	// Order is safe for concurrent use too. It changes while updates are trained, never while Frozen runs.
	Order *order.Fused
	// TopicSince numbers the last update of another topic than the present one.
	TopicSince uint64
	// Every is after how many visited pages a snapshot is due; SnapshotEvery unless set. It is set before the learner is used.
	Every int

	queueing sync.Mutex // held for moments
	queue    []queued

	training sync.Mutex // held while updates are trained and while a snapshot is encoded; before queueing
	number   uint64     // of the last update that Order holds
	visits   int        // since the last snapshot was due
	taken    int        // the same, of other workers

	behind atomic.Int64 // updates that are queued or being trained
	saving atomic.Bool  // a snapshot is being written
}

// queued is an update that is on disk and not learned yet, or a snapshot of another frontier.
type queued struct {
	number   uint64
	update   Update
	snapshot []byte
}

// New makes a learner that has learned nothing since an update.
func New(settings order.Settings, topicSince uint64) *Learner {
	return &Learner{Order: order.NewFused(nil, settings), TopicSince: topicSince, Every: SnapshotEvery, number: topicSince}
}

// Add queues an update that is on disk, for Train.
func (l *Learner) Add(number uint64, u Update) { l.add(queued{number: number, update: u}) }

// AddSnapshot queues a snapshot that takes the place of all that was learned before.
func (l *Learner) AddSnapshot(number uint64, raw []byte) {
	l.add(queued{number: number, snapshot: raw})
}

func (l *Learner) add(q queued) {
	l.behind.Add(1)
	l.queueing.Lock()
	defer l.queueing.Unlock()
	l.queue = append(l.queue, q)
}

// Train learns all that is queued, in its order.
func (l *Learner) Train() {
	l.training.Lock()
	defer l.training.Unlock()
	l.queueing.Lock()
	queue := l.queue
	l.queue = nil
	l.queueing.Unlock()
	for i := range queue {
		l.learn(&queue[i])
	}
	l.behind.Add(-int64(len(queue)))
}

// Behind reports whether updates are on disk that are not learned yet. It waits for nothing.
func (l *Learner) Behind() bool { return l.behind.Load() > 0 }

// Due reports whether a snapshot is to be written now. The caller writes it and calls Saved; until then no other is due.
func (l *Learner) Due() bool {
	l.training.Lock()
	defer l.training.Unlock()
	if l.visits+l.taken/takenPart < l.Every || !l.StartSaving() {
		return false
	}
	l.visits, l.taken = 0, 0
	return true
}

// StartSaving says that a snapshot is going to be written; false if another one is. The caller calls Saved.
func (l *Learner) StartSaving() bool { return l.saving.CompareAndSwap(false, true) }

func (l *Learner) learn(q *queued) {
	l.number = q.number
	if q.snapshot != nil {
		if l.Order.Restore(q.snapshot) == nil { // else it stays as it was: a snapshot is tried before it is queued
			l.visits, l.taken = 0, 0
		}
		return
	}
	if examples := order.DecodeViews(q.update.Examples); len(examples) > 0 { // of a later version none may be readable: then the former ones stay
		l.Order.Teach(examples)
	}
	for _, v := range q.update.Visits {
		l.Order.Learn(v)
	}
	if q.update.From == "" {
		l.visits += len(q.update.Visits)
	} else {
		l.taken += len(q.update.Visits)
	}
}

// Saved says that the snapshot that was due is on disk, or could not be written: then the updates are still there.
func (l *Learner) Saved() { l.saving.Store(false) }

// Saving reports whether a snapshot is being written. It waits for nothing.
func (l *Learner) Saving() bool { return l.saving.Load() }

// Frozen calls fn with the number of the last update that the order holds, while nothing is trained.
func (l *Learner) Frozen(fn func(number uint64)) {
	l.training.Lock()
	defer l.training.Unlock()
	fn(l.number)
}

// Snapshot encodes all that was learned, up to an update.
func (l *Learner) Snapshot() (number uint64, raw []byte, err error) {
	l.Frozen(func(n uint64) { number = n; raw, err = l.Order.Encode() })
	return number, raw, err
}

// Restore puts a snapshot in place; false if it cannot be read: then everything is as before.
func (l *Learner) Restore(number uint64, raw []byte) bool {
	l.training.Lock()
	defer l.training.Unlock()
	if l.Order.Restore(raw) != nil {
		return false
	}
	l.number = number
	return true
}

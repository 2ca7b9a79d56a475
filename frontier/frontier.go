package frontier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/migrate"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/scope"
)

// The errors of the frontier.
var (
	ErrClosed   = store.ErrClosed
	ErrLocked   = store.ErrLocked
	ErrFormat   = migrate.ErrFormat
	ErrNoCrawl  = errors.New("the frontier does not know this crawl")
	ErrNoBatch  = errors.New("the batch has no claim any more")
	ErrBusy     = errors.New("the crawl is running already")
	ErrTooMany  = errors.New("too many seeds")
	ErrFinished = errors.New("the batch was committed before")
)

// Folder is the name of a frontier's folder in the data folder of its worker.
const Folder = "frontier"

// Options make a frontier.
type Options struct {
	Now       func() time.Time
	ClaimTTL  time.Duration // how long a claim lasts that is not renewed
	LeaseWait time.Duration // how long a claim waits for its lease before it is withdrawn
	LeaseTTL  time.Duration // how long a lease lasts that is not renewed
	Idle      int           // queues without URLs that memory keeps of a crawl; DefaultIdle if 0
	Snapshot  int           // visited pages after which what a crawl has learned is written whole; learner.SnapshotEvery if 0
	Room      func() error  // refuses a write that the disk may have no room for; nil: none is refused
	Rights    Rights        // in the partitions of crawls that are spread; nil: all
	NoSync    bool          // what is acknowledged may be lost with the machine; for laboratories
	Table     int64         // bytes that are collected in memory before they go to disk, at least 7 MiB; 32 MiB if 0. For tests: with few, opening clears less memory, and less can be written at once
	Log       *slog.Logger  // says how the migration of an earlier version's folder goes; nil: nothing is said
}

// Defaults of Options.
const (
	DefaultClaimTTL  = 30 * time.Minute
	DefaultLeaseWait = 2 * time.Minute
	DefaultLeaseTTL  = 15 * time.Minute
	DefaultIdle      = 10_000
)

// Frontier is the frontier of one worker.
type Frontier struct {
	store   *store.Store
	opts    Options
	writes  chan pendingWrite
	closed  chan struct{}
	stopped chan struct{}
	once    sync.Once

	mu      sync.Mutex
	crawls  map[string]*state
	hosts   *hosts
	changed chan struct{} // closed and replaced whenever something changes
	nextID  store.Keys
	moves   partitionMoves
	tidy    chan struct{} // a run has ended

	remembering sync.Mutex   // held while what is remembered is kept
	committing  sync.RWMutex // a commit, whose portions are transactions of their own, holds it for reading

	onLoad  func(crawl string) // of tests: called before a crawl that sleeps is read
	onPlace func()             // of tests: called between two portions of placeQueues, without the lock
}

// state is a crawl as memory knows it. Frontier.mu guards it.
type state struct {
	crawlRecord
	keys     store.Keys // of crawlRecord.ID; may be read without the lock
	scope    *scope.Scope
	queues   map[uint64]*queue.Queue
	evicted  bool   // there may be queues on disk that memory does not have, see evict
	hosts    *hosts // of the frontier
	schedule *queue.Schedule
	// maxDelays is Definition.MaxDelayOf; nil before the plan was read.
	maxDelays func(pld string) time.Duration
	placing   *placing         // by which queues are placed in the schedule from now on
	placed    *placing         // by which all are placed, see placeQueues
	learning  *learner.Learner // nil: the crawl's order does not learn
	taught    *taughtTopic     // see taughtNow
	claims    *claims.Set
	delays    delays
	reserve   reserve // the price of its queues
	waiting   int     // entries in queues, claimed ones included

	wanted time.Time // when a round last wanted to claim, by this process

	asleep     bool     // see Frontier.tidyUp
	loading    *loading // in progress, of a crawl that sleeps
	forgetting bool     // see Frontier.Forget

	steered chan struct{} // closed when what Steering says has changed; nil: nobody waits for it

	onSave func() // of tests: called before a queue's record is encoded
}

// Open opens the frontier in a folder and brings its memory up. What an earlier version has written is migrated, see OpenContext.
func Open(dir string, opts Options) (*Frontier, error) {
	return OpenContext(context.Background(), dir, opts)
}

// OpenContext opens the frontier in a folder. If an earlier version has written it, it is migrated, which may take minutes; cut off by
// the context or by a kill, the next Open continues. ErrFormat if this version cannot read it.
func OpenContext(ctx context.Context, dir string, opts Options) (*Frontier, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.ClaimTTL == 0 {
		opts.ClaimTTL = DefaultClaimTTL
	}
	if opts.LeaseWait == 0 {
		opts.LeaseWait = DefaultLeaseWait
	}
	if opts.LeaseTTL == 0 {
		opts.LeaseTTL = DefaultLeaseTTL
	}
	if opts.Idle == 0 {
		opts.Idle = DefaultIdle
	}
	if opts.Snapshot == 0 {
		opts.Snapshot = learner.SnapshotEvery
	}
	disk, err := store.Open(dir, store.Options{Room: opts.Room, NoSync: opts.NoSync, Table: opts.Table})
	if err != nil {
		return nil, err
	}
	if err := migrate.Up(ctx, disk, migrate.Options{Log: opts.Log}); err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier in %s: %w", dir, err), disk.Close())
	}
	if err := finishMoves(disk); err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier in %s: %w", dir, err), disk.Close())
	}
	f := &Frontier{
		store: disk, opts: opts, writes: make(chan pendingWrite, groupSize), closed: make(chan struct{}),
		stopped: make(chan struct{}), crawls: map[string]*state{}, changed: make(chan struct{}), nextID: 1, tidy: make(chan struct{}, 1),
	}
	f.hosts = newHosts(f.crawls, opts)
	if err := errors.Join(f.loadHosts(), f.load()); err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	go f.writer()
	return f, nil
}

// Close ends the frontier; what was acknowledged is on disk.
func (f *Frontier) Close() error {
	err := ErrClosed
	f.once.Do(func() {
		close(f.closed)
		<-f.stopped
		f.wake()
		err = f.store.Close()
	})
	return err
}

// Wake has rounds of claiming look again, as when the worker has other rights.
func (f *Frontier) Wake() { f.wake() }

// wake wakes those who wait for a change.
func (f *Frontier) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

// wait returns when something changes, at a time, or when the context ends.
func (f *Frontier) wait(ctx context.Context, changed <-chan struct{}, until time.Time) error {
	timer := time.NewTimer(max(until.Sub(f.opts.Now()), 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed:
		return ErrClosed
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// peek returns a crawl, of which there may be nothing in memory but its record; Frontier.mu is held.
func (f *Frontier) peek(name string) (*state, error) {
	s, known := f.crawls[name]
	if !known {
		return nil, fmt.Errorf("%w: %s", ErrNoCrawl, name)
	}
	return s, nil
}

// get returns a crawl with all that memory holds of it. Frontier.mu is held, and released while a crawl that sleeps is read: it
// comes before whatever else is looked at under the lock.
func (f *Frontier) get(name string) (*state, error) {
	s, err := f.peek(name)
	if err != nil {
		return nil, err
	}
	return s, f.awake(s)
}

package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/scope"
)

// The errors of the frontier.
var (
	ErrClosed   = errors.New("the frontier is closed")
	ErrLocked   = errors.New("it is in use by another process: give each worker a data folder of its own, or wait for that one's end")
	ErrNoCrawl  = errors.New("the frontier does not know this crawl")
	ErrNoBatch  = errors.New("the batch has no claim any more")
	ErrBusy     = errors.New("the crawl is running already")
	ErrTooMany  = errors.New("too many seeds")
	ErrFinished = errors.New("the batch was committed before")
)

// Options make a frontier.
type Options struct {
	Now       func() time.Time
	ClaimTTL  time.Duration // how long a claim lasts that is not renewed
	LeaseWait time.Duration // how long a claim waits for its lease before it is withdrawn
	LeaseTTL  time.Duration // how long a lease lasts that is not renewed
	Idle      int           // queues without URLs that memory keeps of a crawl; DefaultIdle if 0
	Room      func() error  // refuses a write that the disk may have no room for; nil: none is refused
	NoSync    bool          // what is acknowledged may be lost with the machine; for laboratories
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
	db      *badger.DB
	opts    Options
	writes  chan pendingWrite
	closed  chan struct{}
	stopped chan struct{}
	once    sync.Once
	reading sync.RWMutex // held while reading, so that Close waits

	// Of the transaction under way; the writer's alone.
	drafts  map[*state]*crawlRecord
	born    map[string]*state // crawls that begin in it
	touched map[queueRef]int  // queue → the mutation that rests on it
	turn    int               // of the mutation that is being made

	mu      sync.Mutex
	crawls  map[string]*state
	hosts   *hosts
	changed chan struct{} // closed and made anew whenever something changes
	nextID  uint16
	tidy    chan struct{} // a run has ended
	unread  error         // of waking a crawl; the writer's alone

	remembering sync.Mutex // held while what is remembered is kept

	onLoad func(crawl string) // of tests: called before a crawl that sleeps is read
}

// state is a crawl as memory knows it. Frontier.mu guards it.
type state struct {
	crawlRecord
	id       uint16 // crawlRecord.ID, which may be read without the lock
	scope    *scope.Scope
	queues   map[uint64]*queue
	evicted  bool   // there may be queues on disk that memory does not have, see evict
	hosts    *hosts // of the frontier
	schedule *schedule
	learning *learning // nil: the crawl's order does not learn
	claims   map[string]*Claim
	taken    takenURLs
	journal  map[string]Release
	delayed  int   // entries of kindDelayed
	due      int64 // of the first of them, or earlier; Unix seconds
	waiting  int   // entries in queues, claimed ones included

	longest *Longest  // as of looked
	looked  time.Time // for it

	asleep     bool     // see Frontier.tidyUp
	loading    *loading // under way, of a crawl that sleeps
	forgetting bool     // see Frontier.Forget
}

// Open opens the frontier in a folder and brings its memory up.
func Open(dir string, opts Options) (*Frontier, error) {
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
	db, err := openBadger(dir, !opts.NoSync)
	if err != nil {
		return nil, err
	}
	f := &Frontier{
		db: db, opts: opts, writes: make(chan pendingWrite, groupSize), closed: make(chan struct{}),
		stopped: make(chan struct{}), crawls: map[string]*state{}, changed: make(chan struct{}), nextID: 1, tidy: make(chan struct{}, 1),
		drafts: map[*state]*crawlRecord{}, born: map[string]*state{}, touched: map[queueRef]int{},
	}
	f.hosts = newHosts(f.crawls, opts)
	if err := errors.Join(f.loadHosts(), f.load()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go f.writer()
	go f.collectGarbage()
	return f, nil
}

// Close ends the frontier; what was acknowledged is on disk.
func (f *Frontier) Close() error {
	err := ErrClosed
	f.once.Do(func() {
		close(f.closed)
		<-f.stopped
		f.wake()
		f.reading.Lock()
		defer f.reading.Unlock()
		err = f.db.Close()
	})
	return err
}

// collectGarbage gives back the space of values that are no longer needed.
func (f *Frontier) collectGarbage() {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for f.db.RunValueLogGC(0.5) == nil {
				continue
			}
		case <-f.closed:
			return
		}
	}
}

// wake tells those who wait that something has changed.
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

// load brings up the memory of all crawls.
func (f *Frontier) load() error {
	return f.db.View(func(txn *badger.Txn) error {
		err := scan(txn, []byte{kindCrawl}, nil, true, func(_, value []byte) (bool, error) {
			var rec crawlRecord
			if err := decoding.Unmarshal(value, &rec); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if _, err := getCBOR(txn, textKey(kindPlan, rec.ID, ""), &rec.planRecord); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if _, err := getCBOR(txn, textKey(kindTrail, rec.ID, ""), &rec.Trail); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if n := len(rec.Trail); n > 0 && rec.Trail[n-1].At.Before(rec.Started) {
				rec.Trail = nil // of the run before
			}
			s, err := f.newState(rec)
			if err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			f.crawls[rec.Name] = s
			f.nextID = max(f.nextID, rec.ID+1)
			return true, nil
		})
		for _, s := range f.crawls {
			if err != nil {
				break
			}
			out := false // claims of a run that was not ended well still keep others from their hosts
			err = scan(txn, prefix(kindClaim, s.id), nil, false, func([]byte, []byte) (bool, error) {
				out = true
				return false, nil
			})
			if s.asleep = !s.Active && !out; err == nil && !s.asleep {
				err = f.loadCrawl(txn, s)
			}
		}
		for pld := range f.hosts.out { // the claims of all crawls are known now
			f.hosts.tell(nil, pld)
		}
		return err
	})
}

func (f *Frontier) newState(rec crawlRecord) (*state, error) {
	sc, err := scope.New(rec.Definition, rec.Bounds)
	if err != nil {
		return nil, err
	}
	return &state{
		crawlRecord: rec, id: rec.ID, scope: sc, queues: map[uint64]*queue{}, hosts: f.hosts, schedule: newSchedule(),
		claims: map[string]*Claim{}, journal: map[string]Release{},
	}, nil
}

func (f *Frontier) loadCrawl(txn *badger.Txn, s *state) error {
	err := scan(txn, prefix(kindClaim, s.id), nil, true, func(_, value []byte) (bool, error) {
		var c Claim
		if err := decoding.Unmarshal(value, &c); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.hold(&c)
		return true, nil
	})
	if err != nil {
		return err
	}
	err = scan(txn, prefix(kindQueue, s.id), nil, true, func(key, value []byte) (bool, error) {
		pld, at, ok := parseQueueKey(key)
		if ok && len(value) == 8 {
			taken := s.taken.claim(urlKey{pld, binary.BigEndian.Uint64(value)}) != ""
			s.queue(pld, "").loaded(at, taken)
			s.waiting++
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	idle := 0
	err = scan(txn, prefix(kindMeta, s.id), nil, true, func(key, value []byte) (bool, error) {
		var m queueMeta
		if err := decoding.Unmarshal(value, &m); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		pld := pldOf(key)
		if _, needed := s.queues[pld]; !needed && idle >= f.opts.Idle {
			s.evicted = true
			return true, nil
		} else if !needed {
			idle++
		}
		s.queue(pld, m.Name).restore(m, s.Run)
		return true, nil
	})
	if err != nil {
		return err
	}
	err = scan(txn, prefix(kindDelayed, s.id), nil, false, func(key, _ []byte) (bool, error) {
		if at, _, ok := parseDelayedKey(key); ok {
			s.delay(at)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	err = scan(txn, prefix(kindRelease, s.id), nil, true, func(_, value []byte) (bool, error) {
		var r Release
		if err := decoding.Unmarshal(value, &r); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.journal[r.Lease] = r
		return true, nil
	})
	if err == nil {
		err = s.loadLearning(txn)
	}
	for _, q := range s.queues {
		q.spent = s.pldSpent(q)
		s.schedule.place(q, f.opts.Now())
	}
	return err
}

func (s *state) pldSpent(q *queue) bool {
	return q.done.left(s.Definition.Budget) <= 0
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

func (s *state) delay(at int64) {
	if s.delayed == 0 || at < s.due {
		s.due = at
	}
	s.delayed++
}

func (s *state) saveMeta(txn *badger.Txn, pld uint64, m queueMeta) error {
	m.Run = s.Run
	return setCBOR(txn, pldKey(kindMeta, s.id, pld), m)
}

func pldOf(key []byte) uint64 {
	var v uint64
	for _, b := range key[3:11] {
		v = v<<8 | uint64(b)
	}
	return v
}

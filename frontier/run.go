package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
)

// Begin starts a run of a crawl, or goes on with the one that the owner has begun. Of an ended run
// the known URLs stay known as what they were: they are crawled anew, with their validators. If a
// run of another owner is under way, Begin returns ErrBusy unless takeOver is set, and then goes on
// with it. seeds are the URLs that bound the scope.
func (f *Frontier) Begin(name, owner string, d crawl.Definition, seeds []string, takeOver bool) (run uint32, err error) {
	bounds := scope.Bounds(d, seeds)
	if len(bounds) > MaxBounds {
		return 0, fmt.Errorf("%w: the seeds lie on %d hosts, at most %d can bound a scope; set scope.within to web, or part the crawl", ErrTooMany, len(bounds), MaxBounds)
	}
	f.mu.Lock()
	_, err = f.get(name) // the writer, for which all crawls wait, need not read it then
	f.mu.Unlock()
	if err != nil && !errors.Is(err, ErrNoCrawl) {
		return 0, err
	}
	err = f.update(func(*badger.Txn) (func(), error) {
		f.mu.Lock()
		s, known := f.crawls[name]
		id, full := f.freeID()
		forgetting := known && s.forgetting
		f.mu.Unlock()
		if forgetting {
			return nil, fmt.Errorf("%w: %s is being forgotten", ErrBusy, name)
		}
		if !known {
			s, known = f.born[name]
		}
		if !known && full != nil {
			return nil, full
		}
		if !known {
			var err error
			if s, err = f.newState(crawlRecord{ID: id, Name: name, Sequence: f.opts.Now().UnixMilli()}); err != nil {
				return nil, err
			}
			f.born[name] = s
		}
		rec := f.draft(s)
		again := false
		switch {
		case known && rec.Owner == owner:
			run = rec.Run
			return nil, nil
		case rec.Active && !takeOver:
			return nil, fmt.Errorf("%w: %s belongs to %s", ErrBusy, name, rec.Owner)
		case rec.Active:
			rec.Owner = owner
		default:
			again = true
			rec.Owner, rec.Active, rec.Started = owner, true, f.opts.Now().UTC()
			rec.Run++
			rec.Totals, rec.Top, rec.Ends, rec.Learned, rec.Limit, rec.Reference = Totals{}, nil, nil, nil, 0, false
			rec.Trail, rec.TrailStep = nil, 0
		}
		if rec.Definition.Topic.Canonical() != d.Topic.Canonical() {
			rec.LessonsFrom = rec.Lessons
		}
		rec.Definition, rec.Bounds, rec.planned = d, bounds, true
		run = rec.Run
		sc, err := scope.New(rec.Definition, rec.Bounds)
		if err != nil {
			return nil, err
		}
		return func() { f.adopt(s, sc, again) }, nil
	})
	return run, err
}

// Inherit makes a crawl known that another frontier knew, which is lost: it has had that many runs. What it
// knew is to be brought in by Commit, until Restored is called; Plan tells.
func (f *Frontier) Inherit(name string, runs uint32) error {
	return f.update(func(*badger.Txn) (func(), error) {
		f.mu.Lock()
		_, known := f.crawls[name]
		id, full := f.freeID()
		f.mu.Unlock()
		if _, born := f.born[name]; known || born {
			return nil, nil
		}
		if full != nil {
			return nil, full
		}
		s, err := f.newState(crawlRecord{ID: id, Name: name, Sequence: f.opts.Now().UnixMilli(), Run: runs, Restore: true})
		if err != nil {
			return nil, err
		}
		f.born[name] = s
		f.draft(s)
		return func() { f.adopt(s, s.scope, false) }, nil
	})
}

// Restored says that all is brought in that another frontier knew.
func (f *Frontier) Restored(name string) error {
	return f.change(name, func(rec *crawlRecord) { rec.Restore = false })
}

// adopt puts a new or changed plan in force; Frontier.mu is held.
func (f *Frontier) adopt(s *state, sc *scope.Scope, again bool) {
	s.scope = sc
	s.learnBy()
	s.schedule = newSchedule() // what the order of queues depends on may have changed
	for _, q := range s.queues {
		q.index = -1
		if again {
			q.done, q.fails, q.unread, q.rest = tally{}, 0, nil, time.Time{}
		}
		q.spent = s.pldSpent(q)
		s.schedule.place(q, f.opts.Now())
	}
	if f.crawls[s.Name] == nil {
		f.crawls[s.Name] = s
		f.nextID = s.id + 1
	}
}

// MaxBounds is how many hosts or PLDs of seeds can bound a scope.
const MaxBounds = 200_000

// Phase bounds the claims of the present phase: pages of the run so far and to come, 0 for the budget
// alone. reference marks the reference crawl.
func (f *Frontier) Phase(name string, limit int64, reference bool) error {
	return f.change(name, func(rec *crawlRecord) { rec.Limit, rec.Reference = limit, reference })
}

// Configure puts another order, weights, budget, politeness or helper in force for a run under way. URLs that wait keep the
// scores that they have; what a claim weighs anew, it weighs by the new order.
func (f *Frontier) Configure(name string, d crawl.Definition) error {
	return f.change(name, func(rec *crawlRecord) {
		if rec.Definition.Topic.Canonical() != d.Topic.Canonical() {
			rec.LessonsFrom = rec.Lessons
		}
		rec.Definition, rec.planned = d, true
	})
}

// Teach keeps what was learned, unless it is nil, and shows pages of the topic to an order that learns, in place of those that it was shown
// before: views of them, as order.Views encodes them.
func (f *Frontier) Teach(name string, learned []byte, examples [][]byte) error {
	if learned != nil {
		if err := f.change(name, func(rec *crawlRecord) { rec.Learned, rec.planned = learned, true }); err != nil {
			return err
		}
	}
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		return f.learn(txn, s, f.draft(s), &lesson{Examples: examples})
	})
}

// End ends the run; its claims must have been committed or given back.
func (f *Frontier) End(name, owner string) error {
	err := f.change(name, func(rec *crawlRecord) {
		if rec.Owner == owner {
			rec.Active = false
		}
	})
	if errors.Is(err, ErrNoCrawl) {
		return nil
	}
	select {
	case f.tidy <- struct{}{}:
	default:
	}
	return err
}

func (f *Frontier) change(name string, edit func(rec *crawlRecord)) error {
	f.mu.Lock()
	s, err := f.get(name)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.update(func(*badger.Txn) (func(), error) {
		rec := f.draft(s)
		edit(rec)
		sc, err := scope.New(rec.Definition, rec.Bounds)
		if err != nil {
			return nil, err
		}
		return func() { f.adopt(s, sc, false) }, nil
	})
}

// Plan is what the activities need to know of a crawl.
type Plan struct {
	Definition crawl.Definition
	Run        uint32
	Learned    []byte
	Reference  bool
	Started    time.Time
	Owner      string
	Restore    bool // see Inherit
	Archive    int  // number of the archive that new batches go to, see GoesTo
}

// Knows tells whether the frontier knows a crawl.
func (f *Frontier) Knows(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crawls[name] != nil
}

// Plan returns the crawl's plan.
func (f *Frontier) Plan(name string) (Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.peek(name)
	if err != nil {
		return Plan{}, err
	}
	return Plan{s.Definition, s.Run, s.Learned, s.Reference, s.Started, s.Owner, s.Restore, s.Archive}, nil
}

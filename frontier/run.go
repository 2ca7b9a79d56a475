package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/times"
)

// ErrOldRun says that a run is to be begun whose number is taken.
var ErrOldRun = errors.New("the number of the run is taken")

// Begin starts a run of a crawl, or continues the one that the owner has begun. Of an ended run
// the known URLs stay known as what they were: they are crawled again, with their validators. If a
// run of another owner is in progress, it returns ErrBusy unless takeOver is set, and then continues
// it if that is the run of the number, or else begins another. The run of a number is begun once: ErrOldRun if it has ended, or if a
// later one is known. A definition whose Spread is another than that of former runs is an InputError. Number 0 stands for the run in progress or the next one. seeds are the URLs that bound the scope.
func (f *Frontier) Begin(name, owner string, number uint32, d crawl.Definition, seeds []string, takeOver bool) (run uint32, err error) {
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
	err = f.update(func(tx *transaction) (func(), error) {
		f.mu.Lock()
		s, known := f.crawls[name]
		id, full := f.freeID(tx)
		forgetting := known && s.forgetting
		f.mu.Unlock()
		if forgetting {
			return nil, fmt.Errorf("%w: %s is being forgotten", ErrBusy, name)
		}
		if !known {
			s, known = tx.added[name]
		}
		if !known && full != nil {
			return nil, full
		}
		if !known {
			var err error
			if s, err = f.newState(crawlRecord{ID: id, Name: name, Sequence: f.opts.Now().UnixMilli(), Unclaimed: true}); err != nil {
				return nil, err
			}
			tx.addCrawl(name, s)
		}
		rec := f.draft(tx, s)
		if rec.Imported || rec.Definition.Name != "" { // it has had a run
			if err := d.CheckSpread(rec.Spread); err != nil {
				return nil, err
			}
		}
		switch {
		case known && rec.Owner == owner && (number == 0 || number == rec.Run):
			run = rec.Run
			return nil, nil
		case rec.Active && rec.Owner != owner && !takeOver:
			return nil, fmt.Errorf("%w: %s belongs to %s", ErrBusy, name, rec.Owner)
		case rec.Active && (number == 0 || number == rec.Run):
			rec.Owner, rec.Aborted = owner, false
			if rec.Unseeded, rec.Lacking = d.Spread, nil; d.Spread { // it may have other seeds
				rec.Totals.NotDue = 0 // Seed counts in all partitions again
			}
		case number > 0 && number <= rec.Run && !(rec.Imported && number == rec.Run):
			return nil, fmt.Errorf("%w: run %d of %s, the last that is known is %d", ErrOldRun, number, name, rec.Run)
		default:
			rec.begin(owner, number, f.opts.Now().UTC())
			rec.Unseeded, rec.Lacking = d.Spread, nil
		}
		if rec.Definition.Topic.Canonical() != d.Topic.Canonical() {
			rec.TopicSince = rec.Updates
		}
		rec.Definition, rec.Version, rec.Bounds, rec.planned, rec.Spread = d, 0, bounds, true, d.Spread
		run = rec.Run
		sc, err := scope.New(rec.Definition, rec.Bounds)
		if err != nil {
			return nil, err
		}
		return func() { f.adopt(s, sc) }, nil
	})
	if err != nil {
		return run, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.crawls[name]; s != nil {
		f.placeQueues(s)
	}
	return run, nil
}

// begin begins a run, or what others have begun of the run that was imported.
func (rec *crawlRecord) begin(owner string, number uint32, now time.Time) {
	rec.Owner, rec.Active, rec.Started = owner, true, now
	if !rec.Imported || number != rec.Run { // else it is in progress, begun by others
		number, rec.Damage, rec.DamagedSums = max(number, rec.Run+1), Damage{}, nil
	}
	rec.enterRun(number)
	rec.Imported = false
	rec.Top, rec.DroppedURLs, rec.TopicModel, rec.Limit, rec.Reference, rec.Again = nil, nil, nil, 0, false, 0
	rec.History, rec.HistoryStep, rec.Aborted = nil, 0, false
	rec.OwingNumbers, rec.Owing = nil, nil // links of an earlier run are not delivered any more
}

// adopt puts a new or changed plan in force. Who has made the mutation calls placeQueues then. Frontier.mu is held.
func (f *Frontier) adopt(s *state, sc *scope.Scope) {
	s.scope = sc
	s.learnBy()
	s.planPlacing()
	s.announce()
	if f.crawls[s.Name] == nil {
		f.crawls[s.Name] = s
		f.nextID = s.keys + 1
	}
}

// Since says how long the run takes so far, of a crawl that is spread and that others have begun before.
func (h Crawl) Since(elapsed time.Duration) error {
	if elapsed == 0 {
		return nil
	}
	began := h.f.opts.Now().UTC().Add(-elapsed)
	return h.change(func(rec *crawlRecord) { rec.Started = times.Earliest(rec.Started, began) })
}

// MaxBounds is how many hosts or PLDs of seeds can bound a scope.
const MaxBounds = 200_000

// End ends the run; its claims must have been committed or given back.
func (h Crawl) End(owner string) error {
	err := h.change(func(rec *crawlRecord) {
		if rec.Owner == owner {
			rec.Active = false
		}
	})
	if errors.Is(err, ErrNoCrawl) {
		return nil
	}
	select {
	case h.f.tidy <- struct{}{}:
	default:
	}
	return err
}

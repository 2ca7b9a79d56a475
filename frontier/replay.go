package frontier

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Replay is what a segment of the archive has of partitions that are made again.
type Replay struct {
	Delivery
	Archive   int // number of the archive that it is in
	Outcomes  []crawl.PageOutcome
	Originals map[string]crawl.Visit // payload digests archived for the first time
}

// Replay brings what a segment has of some partitions into them: the outcomes of URLs, and its links, as Deliver does. It is idempotent. The order
// learns nothing of it, and the totals of the run are left as they are, but for what a spread crawl knows, which goes by its partitions: the worker that has fetched the pages has counted them, and what was found on them. missing are
// the outcomes of URLs that the crawl does not know. The run has begun here, or is expected (Expect): else ErrNotBegun. The outcomes of an earlier run are
// of that run: ReplayRecrawl offers these URLs again.
func (h Crawl) Replay(r Replay, in func(Partition) bool) (missing []crawl.PageOutcome, err error) {
	of := func(url string) bool {
		u, err := urls.Trusted(url)
		return err == nil && in(store.PartitionOf(record.KeyOf(u).PLD))
	}
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	c := Commit{Archive: r.Archive, Originals: map[string]crawl.Visit{}}
	for digest, original := range r.Originals {
		if of(original.URL) {
			c.Originals[digest] = original
		}
	}
	h.f.mu.Lock()
	if s.Definition.Name == "" || s.Run < r.Run {
		err = fmt.Errorf("%w: run %d of %s", ErrNotBegun, r.Run, h.crawl)
	}
	keeps, errKeeps := s.keeps(&c)
	h.f.mu.Unlock()
	err = errors.Join(err, errKeeps)
	if err != nil {
		return nil, err
	}
	outcomes := slices.DeleteFunc(slices.Clone(r.Outcomes), func(o crawl.PageOutcome) bool { return !of(o.URL) })
	for _, p := range portions(nil, keeps, outcomes) {
		unknown, err := h.replay(r.Archive, r.Run, p)
		if err != nil {
			return nil, fmt.Errorf("replay batch %d of %s: %w", r.Number, r.Worker, err)
		}
		missing = append(missing, unknown...)
	}
	// behind the outcomes, as in the batch's own commit: a link to a page that it has brought is of no use any more
	r.Discoveries = slices.DeleteFunc(slices.Clone(r.Discoveries), func(d crawl.Discovery) bool { return !of(d.URL) })
	r.pages = outcomes
	r.replayed = true
	return missing, h.receive(s, r.Delivery, func(Partition) error { return nil })
}

// These stand for a worker in the marks of what no batch has found: no worker has such a name.
const (
	seedsWorker   = "@seeds"
	recrawlWorker = "@recrawl"
)

// Replaying is how what a run begins with is queued in partitions.
type Replaying struct {
	// Counts says that the totals of the run are to count it: no worker that has had the partitions before has done so.
	Counts bool
	// May asks for the right in a partition, within the writer; nil: none is needed, as while the partition is loaded.
	May func(Partition) error
}

// ReplayRecrawl offers what Recrawl offers, in some partitions: Recrawl may have come before they were made again. It is idempotent. notDue is the number of pages that
// are not due in them.
func (h Crawl) ReplayRecrawl(run uint32, list []Partition, how Replaying) (notDue int64, err error) {
	s, err := h.state()
	if err != nil {
		return 0, err
	}
	h.f.mu.Lock()
	rec := s.crawlRecord
	h.f.mu.Unlock()
	rec.Run = run
	for _, p := range list {
		var all []crawl.Discovery
		err := h.f.store.View(func(txn store.Reader) error {
			return txn.InPartition(s.keys, store.Records, p, func(_ store.Key, value []byte) (bool, error) {
				found, due, err := s.again(txn, &rec, value)
				if found != nil {
					all = append(all, *found)
				} else if !due {
					notDue++
				}
				return true, err
			})
		})
		if err == nil {
			err = h.replayAlone(recrawlWorker, run, all, how)
		}
		if err != nil {
			return 0, err
		}
	}
	return notDue, nil
}

// CountNotDue counts pages that are not due in a partition that was brought to a run in progress.
func (h Crawl) CountNotDue(run uint32, owner string, n int64) error {
	if n == 0 {
		return nil
	}
	return h.change(func(rec *crawlRecord) {
		if rec.Run == run && rec.Owner == owner {
			rec.Totals.NotDue += n
		}
	})
}

// ReplaySeeds queues those seeds of a run in some partitions that the crawl does not know in that run. It is idempotent.
func (h Crawl) ReplaySeeds(run uint32, seeds []crawl.Discovery, in func(Partition) bool, how Replaying) error {
	found, err := h.Unknown(run, slices.DeleteFunc(slices.Clone(seeds), func(seed crawl.Discovery) bool {
		u, err := urls.Trusted(seed.URL)
		return err != nil || !in(store.PartitionOf(record.KeyOf(u).PLD))
	}))
	if err != nil {
		return err
	}
	return h.replayAlone(seedsWorker, run, found, how)
}

// replayAlone queues what no batch has found. The nonce is of what is offered: cut off, or with other seeds, the next call offers the rest, which has no marks yet.
func (h Crawl) replayAlone(worker string, run uint32, found []crawl.Discovery, how Replaying) error {
	if len(found) == 0 {
		return nil
	}
	s, err := h.state()
	if err != nil {
		return err
	}
	h.f.mu.Lock()
	begun := s.Definition.Name != "" && s.Run >= run
	h.f.mu.Unlock()
	if !begun {
		return fmt.Errorf("%w: run %d of %s", ErrNotBegun, run, h.crawl)
	}
	d := Delivery{Worker: worker, Number: uint64(run), Nonce: partID("", found)[1:], Run: run, Discoveries: found, replayed: !how.Counts}
	may := how.May
	if may == nil {
		may = func(Partition) error { return nil }
	}
	return h.receive(s, d, may)
}

// Unknown are those of some seeds that the crawl does not know in a run.
func (h Crawl) Unknown(run uint32, seeds []crawl.Discovery) (unknown []crawl.Discovery, err error) {
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	err = h.f.store.View(func(txn store.Reader) error {
		for _, seed := range seeds {
			u, err := urls.Trusted(seed.URL)
			if err != nil {
				continue
			}
			r, known, err := txn.Record(s.keys.Record(record.KeyOf(u)))
			if err != nil {
				return err
			}
			if !known || r.Run != run {
				unknown = append(unknown, seed)
			}
		}
		return nil
	})
	return unknown, err
}

// replay writes the outcomes of a portion. An outcome of a URL that does not wait changes nothing.
func (h Crawl) replay(archive int, run uint32, p portion) (missing []crawl.PageOutcome, err error) {
	if len(p.outcomes)+len(p.keeps) == 0 {
		return nil, nil
	}
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		missing = missing[:0]
		e := h.f.edit(tx, s)
		totals, former, top, now, started := e.rec.Totals, e.rec.Former, slices.Clone(e.rec.Top), e.rec.Run, e.rec.Started
		if e.rec.Run = run; run != now { // of which the outcomes are
			e.rec.Started = time.Unix(0, 0) // when that began is not known: the present run asks for all that it has asked for
		}
		done, delayed := map[uint64]queue.Tally{}, 0
		for _, o := range p.outcomes {
			u, err := urls.Trusted(o.URL)
			if err != nil {
				return nil, err
			}
			k := record.KeyOf(u)
			if h.f.isMoving(tx, s, k.PLD) {
				return nil, ErrMoving
			}
			r, known, err := tx.Record(s.keys.Record(k))
			if err != nil {
				return nil, err
			}
			if !known {
				missing = append(missing, o)
				continue
			}
			if r.State == record.Delayed { // its next attempt is the one that is in the archive
				if err := errors.Join(tx.Delete(s.keys.Delay(r.Due, k)), tx.Set(s.keys.Record(k), waiting(r).Encode())); err != nil {
					return nil, err
				}
				e.change(k.PLD).removed-- // it is in no queue
				delayed++
			}
			if _, err := e.conclude(o, archive, done); err != nil {
				return nil, err
			}
		}
		e.rec.undoTotals(totals, former)
		e.rec.Top, e.rec.Run, e.rec.Started = top, now, started
		if err := e.learnProbes(p.outcomes, nil); err != nil {
			return nil, err
		}
		if err := errors.Join(e.sites.save(tx.Tx), writeKeeps(tx.Tx, p.keeps), h.f.saveDone(tx, s, done, nil)); err != nil {
			return nil, err
		}
		if err := h.f.loadQueues(s, queuesOf(e.changes)...); err != nil {
			return nil, err
		}
		return func() {
			e.apply()
			s.delays.remove(delayed, nil)
			for pld, n := range done {
				q := s.queue(pld, "")
				q.Done = n
				q.Limit(s.pldLeft(q))
				s.schedule.Place(q, h.f.opts.Now())
			}
		}, nil
	})
	return missing, err
}

// waiting is a record of a URL that waits.
func waiting(r record.Record) *record.Record {
	r.State, r.Due = record.Waiting, 0
	return &r
}

func queuesOf(changes map[uint64]*change) (list []uint64) {
	for pld := range changes {
		list = append(list, pld)
	}
	return list
}

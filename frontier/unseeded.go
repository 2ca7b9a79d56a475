package frontier

import (
	"errors"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// partitionSet has a bit for each partition; nil: all are in it. It is not changed: who changes a record makes another one.
type partitionSet []byte

func (s partitionSet) has(p Partition) bool { return s == nil || s[p/8]&(1<<(p%8)) != 0 }

// without is the set without some partitions, and whether any is left.
func (s partitionSet) without(list []Partition) (rest partitionSet, some bool) {
	rest = make(partitionSet, Partitions/8)
	for p := range Partition(Partitions) {
		if s.has(p) && !slices.Contains(list, p) {
			rest[p/8] |= 1 << (p % 8)
			some = true
		}
	}
	return rest, some
}

// lacks reports whether what the run begins with may not be queued in a partition.
func (r *crawlRecord) lacks(p Partition) bool { return r.Unseeded && r.Lacking.has(p) }

// Unseeded are the partitions in which what a run of a spread crawl begins with, its seeds and the pages of earlier runs, may not be queued here.
type Unseeded struct {
	Mine    []Partition           // this worker may queue it now
	Others  []Partition           // their owners do, by their own Begin or when they load them
	Waiting []Partition           // they are on their way, or the worker has no permit
	May     func(Partition) error // asks for the right that those of Mine have
}

// Unseeded sorts these partitions by what the worker may do. There is none if the run is another one by now, has ended, or has another owner.
func (h Crawl) Unseeded(run uint32, owner string) (out Unseeded, err error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil || !s.Active || s.Run != run || s.Owner != owner {
		return out, err
	}
	out.May = func(Partition) error { return nil }
	if rights := s.rights(h.f); rights != nil {
		epoch := rights.Epoch()
		out.May = func(p Partition) error { return rights.Check(ring.Commit, p, epoch) }
	}
	for p := range Partition(Partitions) {
		if !s.lacks(p) {
			continue
		}
		switch err := out.May(p); {
		case err == nil:
			out.Mine = append(out.Mine, p)
		case errors.Is(err, ring.ErrStale):
			out.Others = append(out.Others, p)
		default:
			out.Waiting = append(out.Waiting, p)
		}
	}
	return out, nil
}

// Seed queues what a run begins with in the partitions that may lack it and that are this worker's now. Those that are handed over meanwhile
// are left out: they lack it still. ids are the names of the two offers, by which they are idempotent.
func (h Crawl) Seed(run uint32, owner string, ids SeedIDs, seeds []crawl.Discovery) error {
	lacking, err := h.Unseeded(run, owner)
	if err != nil || len(lacking.Mine)+len(lacking.Others) == 0 {
		return err
	}
	urlsOf, missed := URLs(h), map[Partition]bool{}
	offer := func(id string) func([]crawl.Discovery) error {
		return func(found []crawl.Discovery) error {
			err := urlsOf.Offer(partID(id, found), found)
			if !errors.Is(err, ring.ErrNotNow) {
				return err
			}
			for p := range ByPartition(found) {
				missed[p] = true
			}
			return nil
		}
	}
	notDue := map[Partition]int64{}
	if run > 1 && len(lacking.Mine) > 0 {
		if notDue, err = urlsOf.recrawl(lacking.Mine, offer(ids.Recrawl)); err != nil {
			return err
		}
	}
	mine := slices.DeleteFunc(slices.Clone(seeds), func(seed crawl.Discovery) bool {
		u, err := urls.Trusted(seed.URL)
		if err != nil {
			return true
		}
		_, is := slices.BinarySearch(lacking.Mine, store.PartitionOf(record.KeyOf(u).PLD))
		return !is
	})
	if len(mine) > 0 {
		if err := offer(ids.Seeds)(mine); err != nil {
			return err
		}
	}
	done := slices.DeleteFunc(slices.Clone(lacking.Mine), func(p Partition) bool { return missed[p] })
	return h.change(func(rec *crawlRecord) {
		if !rec.seeded(run, owner, slices.Concat(done, lacking.Others)) {
			return
		}
		for _, p := range done {
			if lacking.May(p) == nil { // else who has the partition by now has counted them
				rec.Totals.NotDue += notDue[p]
			}
		}
	})
}

// SeedIDs are the names of what a run begins with.
type SeedIDs struct{ Recrawl, Seeds string }

// Seeded says that what a run of a spread crawl begins with is queued in some partitions, by this worker or by their owners; nil: in all. Until then such a partition says so when it is
// exported, and the crawl is not idle here. It changes nothing if the run is another one by now, or has another owner. With it the pages are counted that are not due
// in them: once, however often it is tried.
func (h Crawl) Seeded(run uint32, owner string, list []Partition, notDue int64) error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	nothing := err == nil && (!s.Unseeded || list != nil && !slices.ContainsFunc(list, s.lacks))
	h.f.mu.Unlock()
	if err != nil || nothing {
		return err
	}
	return h.change(func(rec *crawlRecord) {
		if rec.seeded(run, owner, list) {
			rec.Totals.NotDue += notDue
		}
	})
}

// seeded reports whether the run is that one, and notes it then.
func (r *crawlRecord) seeded(run uint32, owner string, list []Partition) bool {
	if r.Run != run || r.Owner != owner {
		return false
	}
	switch {
	case !r.Unseeded:
	case list == nil:
		r.Unseeded, r.Lacking = false, nil
	default:
		if r.Lacking, r.Unseeded = r.Lacking.without(list); !r.Unseeded {
			r.Lacking = nil
		}
	}
	return true
}

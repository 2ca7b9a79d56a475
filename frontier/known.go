package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Totals.Known, Requisites and Speculative of a crawl count the records that its frontier has of the run. Of a spread crawl they move with the partitions: what
// is imported or made again is added, what is dropped is taken away. So the sum over the workers of the ring is what the run knows, whichever worker was lost.

// knownURLs are how many URLs a run knows.
type knownURLs struct {
	All         int64 `cbor:"1,keyasint,omitempty"`
	Requisites  int64 `cbor:"2,keyasint,omitempty"`
	Speculative int64 `cbor:"3,keyasint,omitempty"`
}

// knownAhead are the URLs of a run that others have begun and this worker has not, in partitions that it has imported.
type knownAhead struct {
	Run       uint32 `cbor:"4,keyasint,omitempty"`
	knownURLs        // its numbers, from 1 on, are in the same map
}

// count adds a record n times. One that stands for the canonical form of another URL is none.
func (k *knownURLs) count(r *record.Record, n int64) {
	if r.State == record.Same {
		return
	}
	k.All += n
	switch crawl.ClassOf(r.Path) {
	case crawl.ClassRequisite:
		k.Requisites += n
	case crawl.ClassSpeculative:
		k.Speculative += n
	}
}

// add adds n times what others are. No number is below 0: what a version has counted that did not move the numbers may be less than what is dropped.
func (k *knownURLs) add(o knownURLs, n int64) {
	k.All, k.Requisites, k.Speculative = max(k.All+n*o.All, 0), max(k.Requisites+n*o.Requisites, 0), max(k.Speculative+n*o.Speculative, 0)
}

func (t *Totals) known() knownURLs { return knownURLs{t.Known, t.Requisites, t.Speculative} }

func (t *Totals) setKnown(k knownURLs) {
	t.Known, t.Requisites, t.Speculative = k.All, k.Requisites, k.Speculative
}

// recount counts a record of the run in place of what it was before; that is zero if the URL was not known.
func (e *edit) recount(before, after *record.Record) {
	k := e.rec.Totals.known()
	if before.Run == e.run && before.State != 0 {
		k.count(before, -1)
	}
	if after.Run == e.run {
		k.count(after, 1)
	}
	e.rec.Totals.setKnown(k)
}

// setKnown puts other numbers in force that have come by a move, or by what was made again. They take no room of the budget of requisites: the worker has admitted them that had the partition.
func (rec *crawlRecord) setKnown(k knownURLs) {
	was := rec.Totals.known()
	rec.Former.Requisites += k.Requisites - was.Requisites
	rec.Former.Speculative += k.Speculative - was.Speculative
	rec.Totals.setKnown(k)
}

// undoTotals gives the totals back that were before a replay, but for what a spread crawl knows now.
func (rec *crawlRecord) undoTotals(totals Totals, former againEmbedded) {
	now := rec.Totals.known()
	rec.Totals, rec.Former = totals, former
	if rec.Spread {
		rec.setKnown(now)
	}
}

// enterRun has the record be of a run, with totals of its own. What is known of the run here, because others have begun it, stays.
func (rec *crawlRecord) enterRun(run uint32) {
	k := knownURLs{}
	switch run {
	case rec.Run:
		k = rec.Totals.known()
	case rec.Ahead.Run:
		k = rec.Ahead.knownURLs
	}
	if run >= rec.Ahead.Run {
		rec.Ahead = knownAhead{}
	}
	rec.Run, rec.Totals, rec.Former, rec.Outcomes = run, Totals{}, againEmbedded{}, queue.Outcomes{}
	rec.setKnown(k)
}

// movesKnown reports whether what the crawl knows is counted when partitions of it move: a run is in progress, here or at others.
func (rec *crawlRecord) movesKnown() bool {
	return rec.Spread && (rec.Active || rec.Imported || rec.Ahead.Run > 0)
}

// moveKnown adds n times what a partition has, by run.
func (rec *crawlRecord) moveKnown(by map[uint32]knownURLs, n int64) {
	for run, k := range by {
		if run > rec.Run && run > rec.Ahead.Run && n > 0 {
			rec.Ahead = knownAhead{Run: run}
		}
		switch {
		case run == rec.Run && (rec.Active || rec.Imported):
			now := rec.Totals.known()
			now.add(k, n)
			rec.setKnown(now)
		case run > rec.Run && run == rec.Ahead.Run:
			rec.Ahead.add(k, n)
		}
	}
}

// leaveKnown takes away what a crawl knows in a partition that is about to be deleted here.
func (f *Frontier) leaveKnown(tx *transaction, s *state, p Partition) error {
	rec := tx.drafts[s]
	if rec == nil {
		f.mu.Lock()
		now := s.crawlRecord
		f.mu.Unlock()
		rec = &now
	}
	if !rec.movesKnown() || s.chosen(max(f.moves.now[p], tx.moving[p])) { // what was cut off is not counted any more
		return nil
	}
	by := map[uint32]knownURLs{}
	err := tx.InPartition(s.keys, store.Records, p, func(_ store.Key, value []byte) (bool, error) {
		r, err := record.Decode(value)
		if err == nil {
			countBy(by, &r)
		}
		return true, err
	})
	if err == nil && len(by) > 0 {
		f.draft(tx, s).moveKnown(by, -1)
	}
	return err
}

// countBy counts a record by its run.
func countBy(by map[uint32]knownURLs, r *record.Record) {
	k := by[r.Run]
	k.count(r, 1)
	by[r.Run] = k
}

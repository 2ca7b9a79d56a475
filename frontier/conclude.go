package frontier

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// concluded is what an outcome does beside the marks.
type concluded struct {
	new  bool     // the URL waited
	due  int64    // when a delayed URL comes back, Unix seconds; 0: none does
	pld  uint64   // of the URL
	kept [][]byte // what the order kept with the link to a page
}

// conclude marks one outcome; archive is the number of the archive that it is in, done what the queues of its batch have
// given.
func (e *edit) conclude(o crawl.PageOutcome, archive int, done map[uint64]queue.Tally) (end concluded, err error) {
	u, err := urls.Trusted(o.URL)
	if err != nil {
		return end, fmt.Errorf("commit %s: %w", o.URL, err)
	}
	k := record.KeyOf(u)
	r, found, err := e.Record(e.s.keys.Record(k))
	if err == nil && found && r.State == record.Banned {
		return end, e.concludeBanned(k, &r, o, archive, done)
	}
	if err != nil || !found || r.State != record.Waiting {
		return end, err
	}
	class := crawl.ClassOf(r.Path)
	count(e.rec, o, class)
	if r.Visit != (crawl.Visit{}) {
		e.rec.Former.count(class, 0, o.Bytes)
	}
	now, err := e.s.since(e.Reader, k.PLD, &r, &o)
	if err != nil {
		return end, err
	}
	if class == crawl.ClassPage {
		e.rec.Totals.CountBecame(now)
	}
	if err := e.countDone(k.PLD, done, o, class, r.Position.Priority); err != nil {
		return end, err
	}
	if o.Kind == crawl.OutcomeReturned {
		return end, nil
	}
	if err := e.Delete(e.s.keys.Entry(k.PLD, r.Position)); err != nil {
		return end, err
	}
	c := e.change(k.PLD)
	c.remove(r.Position)
	c.concluded++
	end.new, end.pld = true, k.PLD
	old := r
	r.Run = e.rec.Run // it may have waited since an earlier run
	e.recount(&old, &r)
	switch o.Kind {
	case crawl.OutcomeRetry:
		r.State, r.Attempts, r.Due = record.Delayed, r.Attempts+1, max(o.After.Unix(), 0)+1
		end.due = r.Due
		if err := e.Set(e.s.keys.Delay(r.Due, k), nil); err != nil {
			return end, err
		}
	case crawl.OutcomeDone, crawl.OutcomeUnmodified:
		r.State, r.Attempts, r.End = record.Done, 0, endOf(&o)
		end.kept, r.Features, r.OtherFeatures = r.LinkFeatures(), nil, nil // nobody asks for it any more
		keepVisit(&r, &o, archive)
		if err := e.sites.reward(k.PLD, &r, o, e.rec.Definition.Topic.Threshold); err != nil {
			return end, err
		}
	case crawl.OutcomeRobots, crawl.OutcomeRefused:
		r.State = record.Refused
		e.rec.ended(o, e.f.opts.Now())
	default:
		r.State = record.Failed
		e.rec.ended(o, e.f.opts.Now())
	}
	if r.State != record.Delayed {
		e.recheck(&r, &o, now)
	}
	return end, e.Set(e.s.keys.Record(k), r.Encode())
}

// concludeBanned counts what was archived of a URL that was submitted as blacklisted after it had been asked for: the archive has it, so the totals have it. The URL stays
// blacklisted, and is counted once: see record.Expected.
func (e *edit) concludeBanned(k record.Key, r *record.Record, o crawl.PageOutcome, archive int, done map[uint64]queue.Tally) error {
	if r.Attempts != record.Expected || o.Kind != crawl.OutcomeDone && o.Kind != crawl.OutcomeUnmodified {
		return nil
	}
	class := crawl.ClassOf(r.Path)
	count(e.rec, o, class)
	if err := e.countDone(k.PLD, done, o, class, r.Position.Priority); err != nil {
		return err
	}
	r.Attempts = 0
	keepVisit(r, &o, archive)
	return e.Set(e.s.keys.Record(k), r.Encode())
}

// keepVisit keeps the last capture of a URL with its record.
func keepVisit(r *record.Record, o *crawl.PageOutcome, archive int) {
	if o.Visit.Digest == "" {
		return
	}
	r.Visit, r.Archive = o.Visit, archive
	if r.Visit.URL == r.URL {
		r.Visit.URL = ""
	}
}

// endOf is how a URL ends that is done.
func endOf(o *crawl.PageOutcome) record.End {
	switch {
	case isAbsent(o):
		return record.Absent
	case o.Kind == crawl.OutcomeDone && o.Status < http.StatusBadRequest:
		return record.Read
	}
	return record.Unread
}

// countDone counts an answer of a queue, if it is one for a page. done holds the queues of the batch's claims; a batch whose claims
// ran out brings pages of others. priority is that by which the URL was claimed.
func (e *edit) countDone(pld uint64, done map[uint64]queue.Tally, o crawl.PageOutcome, class crawl.Class, priority uint16) error {
	if !o.Answered() || class != crawl.ClassPage {
		return nil
	}
	if _, claimed := done[pld]; !claimed {
		if err := errors.Join(e.touch(e.s, pld), e.f.loadQueues(e.s, pld)); err != nil {
			return err
		}
		e.f.mu.Lock()
		if q, known := e.s.known(pld); known {
			done[pld] = q.Done
		}
		e.f.mu.Unlock()
	}
	now := done[pld]
	now.Requests++
	if o.Success() {
		now.Pages++
		if len(o.PageFeatures) > 0 && o.Score >= 0 {
			e.rec.Outcomes.Learn(now, priority, o.Worth)
			now.Judge(o.Worth)
		}
	}
	done[pld] = now
	return nil
}

// count adds an outcome to the run's totals.
func count(rec *crawlRecord, o crawl.PageOutcome, class crawl.Class) {
	t := &rec.Totals
	t.Count(o.Outcome, class)
	if o.Revisit {
		t.Revisits++
	}
	if class != crawl.ClassPage || !o.Success() || o.Score < 0 {
		return
	}
	t.Scored++
	if o.Score >= rec.Definition.Topic.Threshold {
		t.Relevant++
	}
	at, _ := slices.BinarySearchFunc(rec.Top, o.Score, func(p Top, score float64) int {
		if p.Score >= score {
			return -1
		}
		return 1
	})
	if at < topPages {
		rec.Top = slices.Insert(rec.Top, at, Top{o.URL, o.Score})
		rec.Top = rec.Top[:min(len(rec.Top), topPages)]
	}
}

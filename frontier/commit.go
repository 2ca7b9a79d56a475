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
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/times"
)

// Commit is what a batch brings back.
type Commit struct {
	Batch       string // its ID, or that of what else brings it
	Archive     int    // number of the archive that it went to
	Outcomes    []crawl.PageOutcome
	Discoveries []crawl.Discovery
	Originals   map[string]crawl.Visit // payload digests archived for the first time
	Sample      []byte                 // what the reference crawl learns from
	// RequisitesCut is how many URLs that its pages embed were left out before, because a page embeds more than it may.
	RequisitesCut int64
	// Recovered says that the lists were made again from the archive, perhaps in another order: portions of the commit
	// that were written before say nothing of its portions.
	Recovered bool
	// Rest, if not zero, says that the batch failed: what it brings is what it had come to. The queues of its claims rest until
	// then.
	Rest time.Time
	// Others says to which partitions what was found in them is delivered already (Deliver): it is left out here. nil: none.
	Others func(Partition) bool
	// Owes says that links to some of the Others are not delivered yet: until Batch.Delivered the batch is in progress, without claims. See Owing.
	Owes bool
	// Rescore gives the discovered URLs that wait these scores in place of those they had, and leaves the
	// others alone.
	Rescore bool
}

// Commit ends a batch: its outcomes are marked, its outlinks queued, its claims dropped. It is
// idempotent by batch: what is committed already is left alone. A portion that the store cannot take in one transaction
// goes in without what the crawl can do without: prints, samples, digests, and what an order learns.
//
// Of a crawl that is spread, outcomes in partitions that are other workers' by now are only counted: those have them of the archive. ErrUndelivered if a
// link leads to a partition that is not this worker's, PartlyDeliveredError if one leads to a partition that a delivery has brought a part of the links to; another Commit
// with more Others continues.
func (h Crawl) Commit(c Commit) error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return err
	}
	bound := s.scope
	keeps, err := s.keeps(&c)
	h.f.mu.Unlock()
	if err == nil && c.Rescore {
		c.Others, err = h.others(true)
	}
	if err != nil {
		return err
	}
	links, of := gather(bound, c.Discoveries, c.Rescore)
	h.f.committing.RLock()
	defer h.f.committing.RUnlock()
	parts := portions(links, keeps, c.Outcomes)
	for i, p := range parts {
		commit := committing{c: &c, all: links, of: of, marker: c.marker(i), ends: i == len(parts)-1, alone: len(parts) == 1}
		if commit.ends {
			commit.marker = "end"
		}
		err := h.f.commitPortion(s, commit, p)
		if errors.Is(err, store.ErrTooBig) {
			commit.spare = true
			err = h.f.commitPortion(s, commit, p.spare())
		}
		if err != nil {
			return err
		}
		h.f.train(s) // what the next portion teaches depends on it
	}
	return nil
}

// markerFailed is kept of a batch that was committed as failed.
const markerFailed = "failed"

// marker names a portion that does not end the batch.
func (c *Commit) marker(portion int) string {
	if c.Recovered {
		return fmt.Sprintf("recovered-%d", portion)
	}
	return fmt.Sprintf("part-%d", portion)
}

// Committed reports whether a batch was committed.
func (h Batch) Committed() bool {
	s, err := h.state()
	if err != nil {
		return false
	}
	done := false
	err = h.f.store.View(func(txn store.Reader) (err error) {
		done, err = txn.Has(s.keys.Batch(h.id, "end"))
		return err
	})
	return done && err == nil
}

// committing is the commit that a portion belongs to.
type committing struct {
	c      *Commit
	all    []*offered // its outlinks, those of other portions among them
	of     []*offered // the outlink of each of its discoveries; nil: it is out of scope
	marker string     // of the portion
	ends   bool       // the portion ends the batch
	alone  bool       // there is no other
	spare  bool       // without what a crawl can do without
}

// commitPortion writes a portion, unless it has been written.
func (f *Frontier) commitPortion(s *state, now committing, p portion) error {
	return f.update(func(tx *transaction) (func(), error) {
		e := f.edit(tx, s)
		key := s.keys.Batch(now.c.Batch, now.marker)
		if already, err := tx.Has(key); already || err != nil {
			return nil, err
		}
		claims, done, err := f.heldBy(tx, s, now.c.Batch)
		if err != nil {
			return nil, err
		}
		may, marks := s.committable(f, claims), e.marksOf(now.c.Batch, claims)
		if err := e.offerFetched(now, p.outcomes, may); err != nil {
			return nil, err
		}
		ends, err := e.concludeAll(now, p.outcomes, may, done)
		if err != nil {
			return nil, err
		}
		if err := e.look(p.links); err != nil {
			return nil, err
		}
		if err := e.offerAll(now, p.links, may, marks); err != nil {
			return nil, err
		}
		if err := errors.Join(e.sites.save(tx.Tx), writeKeeps(tx.Tx, p.keeps)); err != nil {
			return nil, err
		}
		took, err := e.learn(s.visits(now.c, ends.visits, ends.pages, now.of))
		if err != nil {
			return nil, err
		}
		ended := func() {}
		if now.ends {
			if err := e.learnTraps(now, may); err != nil {
				return nil, err
			}
			if ended, err = e.endBatch(now, claims, marks); err != nil {
				return nil, err
			}
		}
		rests := f.restsAfter(s, now, claims)
		if err := f.saveDone(tx, s, done, rests); err != nil {
			return nil, err
		}
		return e.finish(key, func() {
			took()
			for _, end := range ends.delays {
				s.delays.add(end.pld, end.due)
			}
			for pld, n := range done {
				q := s.queue(pld, "")
				q.Done = n
				if rest, its := rests[pld]; its {
					q.Rest = rest
				}
				q.Limit(s.pldLeft(q))
				s.schedule.Place(q, f.opts.Now())
			}
			ended()
		})
	})
}

// offerFetched offers the requisites that a batch has fetched with their pages, of a frontier that does not know them any more: only what is known can end.
func (e *edit) offerFetched(now committing, outcomes []crawl.PageOutcome, may *committable) error {
	if !now.c.Recovered {
		return nil
	}
	fetched := map[string]bool{}
	for i := range outcomes {
		if outcomes[i].Requisite {
			fetched[outcomes[i].URL] = true
		}
	}
	for _, o := range now.all {
		if !fetched[o.url] || !o.requisite() || may.to(o.key.PLD) != nil {
			continue
		}
		if err := e.offer(o); err != nil {
			return err
		}
	}
	return nil
}

// ends are how the URLs of a portion have ended.
type ends struct {
	delays []concluded   // URLs that are tried again after a time
	visits []order.Visit // new pages, of which the order learns
	pages  []string      // their URLs
}

// concludeAll ends the URLs of a portion, without those whose partition the worker has lost: these are counted alone. Their segment is in the
// archive, from which their partition was made again, and nobody else counts it (see activities.LostTotals).
func (e *edit) concludeAll(now committing, outcomes []crawl.PageOutcome, may *committable, done map[uint64]queue.Tally) (all ends, err error) {
	for _, o := range outcomes {
		if o.Loaded {
			e.rec.Totals.CountLoaded(o.Bytes, o.Kind == crawl.OutcomeDone)
			continue
		}
		if lost, err := may.lost(o.URL); err != nil {
			return all, err
		} else if lost {
			count(e.rec, o, o.Class())
			continue
		}
		end, err := e.conclude(o, now.c.Archive, done)
		if err != nil {
			return all, err
		}
		if end.new && len(o.PageFeatures) > 0 && o.Success() {
			all.visits = append(all.visits, order.Visit{PageFeatures: o.PageFeatures, Worth: o.Worth, LinkFeatures: end.kept, Score: max(o.Score, 0), Host: order.HostOf(o.URL)})
			all.pages = append(all.pages, o.URL)
		}
		if end.due != 0 {
			all.delays = append(all.delays, end)
		}
	}
	return all, nil
}

// offerAll offers the links of a portion, without those that are another worker's to queue or that a delivery has brought.
func (e *edit) offerAll(now committing, links []*offered, may *committable, marks *marks) error {
	var partly []Partition
	for _, o := range links {
		p := store.PartitionOf(o.key.PLD)
		if now.c.Others != nil && now.c.Others(p) {
			continue
		}
		if err := may.to(o.key.PLD); err != nil {
			return fmt.Errorf("commit %s: %w: %w", now.c.Batch, ErrUndelivered, err)
		}
		switch brought, err := marks.delivered(p, now.c.Discoveries); {
		case err != nil:
			return err
		case brought == someParts && !slices.Contains(partly, p):
			partly = append(partly, p)
		case brought == noParts:
			if err := e.offer(o); err != nil {
				return err
			}
		}
	}
	if len(partly) > 0 {
		return &PartlyDeliveredError{now.c.Batch, partly}
	}
	return nil
}

// heldBy returns the claims of a batch, and what each of their queues has given in this run.
func (f *Frontier) heldBy(tx *transaction, s *state, batch string) (claims []*Claim, done map[uint64]queue.Tally, err error) {
	done = map[uint64]queue.Tally{}
	f.mu.Lock()
	claims = s.claims.OfBatch(batch)
	for _, claim := range claims {
		done[claim.Queue] = s.queue(claim.Queue, "").Done
	}
	f.mu.Unlock()
	for _, claim := range claims {
		if err := tx.touch(s, claim.Queue); err != nil {
			return nil, nil, err
		}
	}
	return claims, done, nil
}

// endBatch counts the batch and drops its claims.
func (e *edit) endBatch(now committing, claims []*Claim, marks *marks) (apply func(), err error) {
	if !now.c.Rescore {
		e.rec.Totals.Links += int64(len(now.c.Discoveries))
	}
	e.rec.Totals.RequisitesCut += now.c.RequisitesCut
	if len(now.c.Outcomes) > 0 {
		e.rec.Totals.Batches++
		if err := e.addPoint(); err != nil {
			return nil, err
		}
	}
	if !now.c.Rest.IsZero() && len(claims) > 0 {
		e.rec.Totals.Failed++
		if err := e.Set(e.s.keys.Batch(now.c.Batch, markerFailed), nil); err != nil {
			return nil, err
		}
	}
	if err := marks.all(now); err != nil {
		return nil, err
	}
	if now.c.Owes && len(claims) > 0 {
		e.owe(Owing{Batch: now.c.Batch, Nonce: claims[0].Nonce, Archive: now.c.Archive})
	}
	e.f.mu.Lock()
	ch := e.s.claims.Drop(claims, e.s.terms())
	e.f.mu.Unlock()
	for i := range ch.Dropped {
		d := &ch.Dropped[i]
		c := e.changes[d.Queue]
		// what other portions took out is not known here: then some of the claim may be left
		d.Back = !now.alone || c == nil || c.concluded < len(d.URLs)
	}
	return e.f.saveClaims(e.transaction, e.s, ch)
}

// restsAfter is until when the queues of a batch rest once it has ended: no longer, unless it failed. Queues that it has no claim of,
// of which it brings a page all the same, rest as before: another batch of them may have failed.
func (f *Frontier) restsAfter(s *state, now committing, claims []*Claim) map[uint64]time.Time {
	rests := map[uint64]time.Time{}
	if !now.ends {
		return rests
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range claims {
		rest := now.c.Rest
		if !rest.IsZero() { // another failure does not shorten it
			rest = times.Latest(rest, s.queue(c.Queue, "").Rest)
		}
		rests[c.Queue] = rest
	}
	return rests
}

// saveDone keeps the page counts of queues, and until when those rest whose batch has ended.
func (f *Frontier) saveDone(tx *transaction, s *state, done map[uint64]queue.Tally, rests map[uint64]time.Time) error {
	f.mu.Lock()
	kept := make(map[uint64]record.Queue, len(done))
	for pld, n := range done {
		m := record.OfQueue(s.queue(pld, ""))
		m.Done, m.Asked, m.Judged, m.Worth = n.Pages, n.Requests, n.Judged, n.Worth
		if rest, its := rests[pld]; its {
			m.SetRest(rest)
		}
		kept[pld] = m
	}
	f.mu.Unlock()
	for pld, m := range kept { // is encoded without the lock
		if err := s.saveMeta(tx.Tx, pld, m); err != nil {
			return err
		}
	}
	return nil
}

// finishQueue marks the outcomes of entries of a queue that no batch holds.
func (f *Frontier) finishQueue(s *state, q *queue.Queue, outcomes []crawl.PageOutcome, failed []queuedURL, next time.Time, failing bool) error {
	return f.update(func(tx *transaction) (func(), error) {
		if err := tx.touch(s, q.PLD); err != nil {
			return nil, err
		}
		if f.gone(s, q) { // with nothing in it
			return nil, nil
		}
		if f.held(s, q.PLD) { // a batch has reopened its claim since the queue was read: these URLs are its
			return func() {
				q.Busy = s.claims.InProgress(q.PLD)
				s.schedule.Place(q, f.opts.Now())
			}, nil
		}
		fails := 0
		if failing {
			fails = q.Fails + 1
		}
		e := f.edit(tx, s) // no page among them: nothing is learned
		for i, o := range outcomes {
			end, err := e.conclude(o, s.Archive, map[uint64]queue.Tally{})
			if err == nil && end.new { // it still waited
				err = e.keepUnfetched(o, failed[i].rec)
			}
			if err != nil {
				return nil, err
			}
		}
		f.mu.Lock()
		s.known(q.PLD) // what it gave in an earlier run is not kept
		m := record.OfQueue(q)
		f.mu.Unlock()
		m.Next, m.Fails = record.Millis(next), fails
		if err := s.saveMeta(tx.Tx, q.PLD, m); err != nil {
			return nil, err
		}
		return func() {
			q.Busy, q.Next, q.Fails = false, next, fails
			e.apply()
			s.schedule.Place(q, f.opts.Now())
		}, nil
	})
}

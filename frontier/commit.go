package frontier

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// Commit is what a batch brings back.
type Commit struct {
	Crawl       string
	Batch       string
	Archive     int // number of the archive that it went to
	Outcomes    []crawl.Outcome
	Discoveries []crawl.Discovery
	Originals   map[string]crawl.Visit // payload digests archived for the first time
	Sample      []byte                 // what the reference crawl learns from
	// Recovered says that the lists were made anew out of the archive, perhaps in another order: portions of the commit
	// that were written before say nothing of its portions.
	Recovered bool
	// Rest, if not zero, says that the batch failed: what it brings is what it had come to. The queues of its claims rest until
	// then.
	Rest time.Time
	// Rescore gives the discovered URLs that wait these scores in place of those they had, and leaves the
	// others alone.
	Rescore bool
}

// Commit ends a batch: its outcomes are marked, its outlinks queued, its claims dropped. It is
// idempotent by batch: what is committed already is left alone. A portion that the store cannot take in one transaction
// goes in without what the crawl can do without: prints, samples, digests, and what an order learns.
func (f *Frontier) Commit(c Commit) error {
	f.mu.Lock()
	s, err := f.get(c.Crawl)
	if err != nil {
		f.mu.Unlock()
		return err
	}
	bound := s.scope
	keeps, err := s.keeps(&c)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	links := gather(bound, c.Discoveries, c.Rescore)
	parts := portions(links, keeps, c.Outcomes)
	for i, p := range parts {
		commit := committing{c: &c, all: links, marker: c.marker(i), ends: i == len(parts)-1, alone: len(parts) == 1}
		if commit.ends {
			commit.marker = "end"
		}
		err := f.commitPortion(s, commit, p)
		if errors.Is(err, badger.ErrTxnTooBig) {
			err = f.commitPortion(s, commit, p.spare())
		}
		if err != nil {
			return err
		}
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
	return fmt.Sprint(portion)
}

func batchKey(id uint16, run uint32, batch string, part string) []byte {
	return textKey(kindBatch, id, fmt.Sprintf("%d/%s/%s", run, batch, part))
}

func committed(txn *badger.Txn, key []byte) (bool, error) {
	return getValue(txn, key, func([]byte) error { return nil })
}

// Committed tells whether a batch was committed.
func (f *Frontier) Committed(name, batch string) bool {
	f.mu.Lock()
	s, err := f.get(name)
	f.mu.Unlock()
	if err != nil {
		return false
	}
	done := false
	err = f.view(func(txn *badger.Txn) (err error) {
		done, err = committed(txn, batchKey(s.id, 0, batch, "end"))
		return err
	})
	return done && err == nil
}

// committing is the commit that a portion belongs to.
type committing struct {
	c      *Commit
	all    []*offered // its outlinks, those of other portions among them
	marker string     // of the portion
	ends   bool       // the portion ends the batch
	alone  bool       // there is no other
}

// commitPortion writes a portion, unless it has been written.
func (f *Frontier) commitPortion(s *state, now committing, p portion) error {
	return f.update(func(txn *badger.Txn) (func(), error) {
		rec := f.draft(s)
		key := batchKey(s.id, 0, now.c.Batch, now.marker)
		if already, err := committed(txn, key); already || err != nil {
			return nil, err
		}
		claims, done, err := f.heldBy(s, now.c.Batch)
		if err != nil {
			return nil, err
		}
		changes, learned := map[uint64]*change{}, openSites(txn, s.id, s.learner())
		var delays []int64
		var visited []order.Visit
		var pages []string
		for _, o := range p.outcomes {
			end, err := f.conclude(txn, s, rec, o, now.c.Archive, learned, changes, done)
			if err != nil {
				return nil, err
			}
			if end.new && len(o.Seen) > 0 && o.Success() {
				visited, pages = append(visited, order.Visit{Seen: o.Seen, Worth: o.Worth, Kept: end.kept}), append(pages, o.URL)
			}
			if end.due != 0 {
				delays = append(delays, end.due)
			}
		}
		for _, o := range p.links {
			if err := f.offer(txn, s, rec, o, learned, changes); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(learned.save(), writeKeeps(txn, p.keeps)); err != nil {
			return nil, err
		}
		took, err := f.learn(txn, s, rec, s.visits(now.c, visited, pages, now.all))
		if err != nil {
			return nil, err
		}
		ended := func() {}
		if now.ends {
			if ended, err = f.endBatch(txn, s, rec, now, claims, changes); err != nil {
				return nil, err
			}
		}
		rests := f.restsAfter(s, now, claims)
		if err := f.saveDone(txn, s, done, rests); err != nil {
			return nil, err
		}
		return f.finishTxn(txn, s, rec, key, changes, func() {
			took()
			for _, due := range delays {
				s.delay(due)
			}
			for pld, n := range done {
				q := s.queue(pld, "")
				q.done = n
				if rest, its := rests[pld]; its {
					q.rest = rest
				}
				q.spent = s.pldSpent(q)
				s.schedule.place(q, f.opts.Now())
			}
			ended()
		})
	})
}

// heldBy returns the claims of a batch, and what each of their queues has given in this run.
func (f *Frontier) heldBy(s *state, batch string) (claims []*Claim, done map[uint64]tally, err error) {
	done = map[uint64]tally{}
	f.mu.Lock()
	for _, claim := range s.claims {
		if claim.Batch == batch && batch != "" {
			claims = append(claims, claim)
			done[claim.Queue] = s.queue(claim.Queue, "").done
		}
	}
	f.mu.Unlock()
	for _, claim := range claims {
		if err := f.touch(s, claim.Queue); err != nil {
			return nil, nil, err
		}
	}
	return claims, done, nil
}

// endBatch counts the batch and drops its claims.
func (f *Frontier) endBatch(txn *badger.Txn, s *state, rec *crawlRecord, now committing, claims []*Claim, changes map[uint64]*change) (apply func(), err error) {
	if !now.c.Rescore {
		rec.Totals.Links += int64(len(now.c.Discoveries))
	}
	if len(now.c.Outcomes) > 0 {
		rec.Totals.Batches++
		if err := f.trailed(txn, s, rec); err != nil {
			return nil, err
		}
	}
	if !now.c.Rest.IsZero() && len(claims) > 0 {
		rec.Totals.Failed++
		if err := txn.Set(batchKey(s.id, 0, now.c.Batch, markerFailed), nil); err != nil {
			return nil, err
		}
	}
	released, err := f.deleteClaims(txn, s, claims)
	return func() {
		released()
		for _, claim := range claims {
			c := changes[claim.Queue]
			// what other portions took out is not known here: then some of the claim may be left
			s.drop(claim, !now.alone || c == nil || c.concluded < len(claim.URLs), f.opts.Now())
		}
	}, err
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
			rest = latest(rest, s.queue(c.Queue, "").rest)
		}
		rests[c.Queue] = rest
	}
	return rests
}

// saveDone keeps the page counts of queues, and until when those rest whose batch has ended.
func (f *Frontier) saveDone(txn *badger.Txn, s *state, done map[uint64]tally, rests map[uint64]time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pld, n := range done {
		q := s.queue(pld, "")
		m := q.meta()
		m.Done, m.Asked = n.pages, n.requests
		if rest, its := rests[pld]; its {
			m.keepRest(rest)
		}
		if err := s.saveMeta(txn, pld, m); err != nil {
			return err
		}
	}
	return nil
}

// finishTxn writes the crawl's record and the metadata of new queues.
func (f *Frontier) finishTxn(txn *badger.Txn, s *state, rec *crawlRecord, marker []byte, changes map[uint64]*change, more func()) (func(), error) {
	if err := f.recall(s, slices.Collect(maps.Keys(changes))...); err != nil {
		return nil, err
	}
	f.mu.Lock()
	for pld, c := range changes {
		rec.Totals.Known += c.known
		if _, known := s.queues[pld]; !known && c.name != "" {
			if err := errors.Join(f.touch(s, pld), s.saveMeta(txn, pld, queueMeta{Name: c.name})); err != nil {
				f.mu.Unlock()
				return nil, err
			}
		}
	}
	f.mu.Unlock()
	if err := txn.Set(marker, nil); err != nil {
		return nil, err
	}
	return func() {
		for _, c := range changes {
			f.applyChange(s, c)
		}
		if more != nil {
			more()
		}
	}, nil
}

// finishQueue marks the outcomes of entries of a queue that no batch holds.
func (f *Frontier) finishQueue(s *state, q *queue, outcomes []crawl.Outcome, failed []queuedURL, next time.Time, failing bool) error {
	return f.update(func(txn *badger.Txn) (func(), error) {
		if err := f.touch(s, q.pld); err != nil {
			return nil, err
		}
		rec := f.draft(s)
		fails := 0
		if failing {
			fails = q.fails + 1
		}
		changes, learned := map[uint64]*change{}, openSites(txn, s.id, s.learner()) // no page among them: nothing is learned
		for _, o := range outcomes {
			if _, err := f.conclude(txn, s, rec, o, s.Archive, learned, changes, map[uint64]tally{}); err != nil {
				return nil, err
			}
		}
		if err := f.keepUnfetched(txn, s, rec, outcomes, failed); err != nil {
			return nil, err
		}
		f.mu.Lock()
		m := q.meta()
		f.mu.Unlock()
		m.Next, m.Fails = millis(next), fails
		if err := s.saveMeta(txn, q.pld, m); err != nil {
			return nil, err
		}
		return func() {
			q.busy, q.next, q.fails = false, next, fails
			for _, c := range changes {
				f.applyChange(s, c)
			}
			s.schedule.place(q, f.opts.Now())
		}, nil
	})
}

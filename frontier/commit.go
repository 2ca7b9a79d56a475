package frontier

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// Commit is what a batch brings back.
type Commit struct {
	Crawl       string
	Batch       string
	Outcomes    []crawl.Outcome
	Discoveries []crawl.Discovery
	Originals   map[string]crawl.Visit // payload digests archived for the first time
	Sample      []byte                 // what the reference crawl learns from
	// Rescore gives the discovered URLs that wait these scores in place of those they had, and leaves the
	// others alone.
	Rescore bool
}

// commitPart is how many discovered URLs are written in one transaction.
const commitPart = 10_000

// commitBytes is how many bytes of them, with what is kept with them; a transaction of the store holds some 9 MB, and a URL
// takes a hundred bytes in it beside these.
const commitBytes = 4 << 20

// Commit ends a batch: its outcomes are marked, its outlinks queued, its claims dropped. It is
// idempotent by batch: what is committed already is left alone.
func (f *Frontier) Commit(c Commit) error {
	f.mu.Lock()
	s, err := f.get(c.Crawl)
	if err != nil {
		f.mu.Unlock()
		return err
	}
	bound := s.scope
	f.mu.Unlock()
	list := gather(bound, c.Discoveries, c.Rescore)
	all := list
	for part := 0; ; part++ {
		n := partLen(list)
		if n == len(list) {
			return f.commitRest(s, c, list, all)
		}
		if err := f.commitLinks(s, c, list[:n], part); err != nil {
			return err
		}
		list = list[n:]
	}
}

// partLen is how many of the URLs go into the next transaction.
func partLen(list []*offered) int {
	size := 0
	for i, o := range list {
		size += o.size()
		if i == commitPart || size > commitBytes {
			return i
		}
	}
	return len(list)
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

// commitLinks queues a part of a batch's many outlinks.
func (f *Frontier) commitLinks(s *state, c Commit, list []*offered, part int) error {
	return f.update(func(txn *badger.Txn) (func(), error) {
		rec := f.draft(s)
		key := batchKey(s.id, 0, c.Batch, fmt.Sprint(part))
		if done, err := committed(txn, key); done || err != nil {
			return nil, err
		}
		changes, learned := map[uint64]*change{}, openSites(txn, s.id, s.learner())
		for _, o := range list {
			if err := f.offer(txn, s, rec, o, learned, changes); err != nil {
				return nil, err
			}
		}
		if err := learned.save(); err != nil {
			return nil, err
		}
		return f.finishTxn(txn, s, rec, key, changes, nil)
	})
}

// commitRest does everything else, and so ends the batch. all are its outlinks, those that were queued before among them.
func (f *Frontier) commitRest(s *state, c Commit, list, all []*offered) error {
	return f.update(func(txn *badger.Txn) (func(), error) {
		rec := f.draft(s)
		f.mu.Lock()
		var claims []*Claim
		done := map[uint64]int64{}
		for _, claim := range s.claims {
			if claim.Batch == c.Batch && c.Batch != "" {
				claims = append(claims, claim)
				done[claim.Queue] = s.queue(claim.Queue, "").done
			}
		}
		f.mu.Unlock()
		key := batchKey(s.id, 0, c.Batch, "end")
		if already, err := committed(txn, key); already || err != nil {
			return nil, err
		}
		for _, claim := range claims {
			if err := f.touch(s, claim.Queue); err != nil {
				return nil, err
			}
		}
		changes, learned := map[uint64]*change{}, openSites(txn, s.id, s.learner())
		var delays []int64
		var visited []order.Visit
		var pages []string
		for _, o := range c.Outcomes {
			end, err := f.conclude(txn, s, rec, o, learned, changes, done)
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
		for _, o := range list {
			if err := f.offer(txn, s, rec, o, learned, changes); err != nil {
				return nil, err
			}
		}
		if err := learned.save(); err != nil {
			return nil, err
		}
		took, err := f.learn(txn, s, rec, s.visits(&c, visited, pages, all))
		if err != nil {
			return nil, err
		}
		if !c.Rescore {
			rec.Totals.Links += int64(len(c.Discoveries))
		}
		if len(c.Outcomes) > 0 {
			rec.Totals.Batches++
			if err := f.trailed(txn, s, rec); err != nil {
				return nil, err
			}
		}
		if err := f.keep(txn, s, c); err != nil {
			return nil, err
		}
		var releases []Release
		for _, claim := range claims {
			if err := txn.Delete(textKey(kindClaim, s.id, claim.ID)); err != nil {
				return nil, err
			}
			if !claim.Ended {
				releases = append(releases, f.releaseOf(s, claim))
			}
		}
		released, err := f.saveClaims(txn, s, nil, releases)
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		for pld, n := range done {
			q := s.queue(pld, "")
			m := q.meta()
			m.Done, m.Rest = n, 0
			if err := s.saveMeta(txn, pld, m); err != nil {
				f.mu.Unlock()
				return nil, err
			}
		}
		f.mu.Unlock()
		return f.finishTxn(txn, s, rec, key, changes, func() {
			released()
			took()
			for _, due := range delays {
				s.delay(due)
			}
			for pld, n := range done {
				q := s.queue(pld, "")
				q.done, q.rest = n, time.Time{} // its batch has come to its end
				q.spent = s.pldSpent(q)
				s.schedule.place(q, f.opts.Now())
			}
			for _, claim := range claims {
				c := changes[claim.Queue]
				s.drop(claim, c == nil || c.concluded < len(claim.URLs), f.opts.Now())
			}
		})
	})
}

// keep stores what outlasts the batch: payload digests and samples.
func (f *Frontier) keep(txn *badger.Txn, s *state, c Commit) error {
	for digest, visit := range c.Originals {
		if err := setCBOR(txn, textKey(kindDigest, s.id, digest), visit); err != nil {
			return err
		}
	}
	if len(c.Sample) > 0 {
		return txn.Set(textKey(kindSample, s.id, fmt.Sprintf("%d/%s", s.Run, c.Batch)), c.Sample)
	}
	return nil
}

// finishTxn writes the crawl's record and the metadata of new queues.
func (f *Frontier) finishTxn(txn *badger.Txn, s *state, rec *crawlRecord, marker []byte, changes map[uint64]*change, more func()) (func(), error) {
	f.mu.Lock()
	for pld, c := range changes {
		rec.Totals.Known += c.known
		if _, known := s.queues[pld]; !known && c.name != "" {
			if err := s.saveMeta(txn, pld, queueMeta{Name: c.name}); err != nil {
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

// finishQueue marks outcomes of a queue that no batch holds.
func (f *Frontier) finishQueue(s *state, q *queue, outcomes []crawl.Outcome, next time.Time, failing bool) error {
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
			if _, err := f.conclude(txn, s, rec, o, learned, changes, map[uint64]int64{}); err != nil {
				return nil, err
			}
		}
		f.mu.Lock()
		m := q.meta()
		f.mu.Unlock()
		m.Next, m.Fails = next.UnixMilli(), fails
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

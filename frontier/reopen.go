package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Withdraw gives back claims that have waited too long for their lease; their asks are withdrawn by
// a release.
func (h Claims) Withdraw() error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	late := err == nil && len(s.claims.Late(s.terms())) > 0
	h.f.mu.Unlock()
	if err != nil || !late {
		return err
	}
	return h.updateClaims(func(s *state) (claims.Change, error) {
		t := s.terms()
		return s.claims.Drop(s.claims.Late(t), t), nil
	})
}

// OpenClaim is a claim opened for fetching.
type OpenClaim struct {
	Claim
	Targets []crawl.Target
}

// Reopen brings the claims of a batch up for fetching. Of claims that are gone, the URLs that no
// other batch has taken or finished are claimed again, without a lease; if all are gone, a new life of the batch
// begins. Claims in partitions that are other workers' by now are dropped (Rights), the others stay. ErrFinished if the batch was committed; then its queues rest no longer, if it was committed as failed.
func (h Batch) Reopen(leases []Claim, found map[string][]string) (lanes []OpenClaim, err error) {
	return h.reopen(leases, found, true)
}

// ReopenHeld is Reopen of a batch whose claims none but their worker was to ask when it was looked at: ring.ErrNotNow if another worker's they are by now, and nothing is dropped.
func (h Batch) ReopenHeld(leases []Claim, found map[string][]string) (lanes []OpenClaim, err error) {
	return h.reopen(leases, found, false)
}

func (h Batch) reopen(leases []Claim, found map[string][]string, drop bool) (lanes []OpenClaim, err error) {
	nonce, finished := newNonce(true), false
	err = h.update(func(s *state, tx *transaction) (_ func(), err error) {
		lanes = lanes[:0]
		if finished, err = tx.Has(s.keys.Batch(h.id, "end")); err != nil {
			return nil, err
		} else if finished {
			failed, err := tx.Has(s.keys.Batch(h.id, markerFailed))
			if !failed || err != nil { // the queues rest, if at all, for batches of them that failed later
				return nil, err
			}
			return h.f.endRests(tx, s, leases)
		}
		var opened []Claim
		var empty []*Claim // held, but nothing of them is left
		for _, l := range leases {
			c, targets, err := h.f.reclaim(tx, s, h.id, nonce, l, found[l.ID], drop)
			if err != nil {
				return nil, err
			}
			if len(targets) == 0 {
				h.f.mu.Lock()
				if held := s.claims.Get(l.ID); held != nil && held.Batch == h.id {
					empty = append(empty, held)
				}
				h.f.mu.Unlock()
				continue
			}
			opened = append(opened, c)
			lanes = append(lanes, OpenClaim{c, targets})
		}
		h.f.mu.Lock()
		ch := s.claims.Drop(empty, s.terms())
		h.f.mu.Unlock()
		ch.Claims = opened
		return h.f.saveClaims(tx, s, ch)
	})
	if finished && err == nil {
		err = ErrFinished
	}
	return lanes, err
}

// endRests ends the rest of the queues of claims that are gone: the retry of their batch, which failed, needs their URLs now.
func (f *Frontier) endRests(tx *transaction, s *state, claims []Claim) (apply func(), err error) {
	var rested []*queue.Queue
	var kept []record.Queue
	f.mu.Lock()
	for _, c := range claims {
		q, known := s.known(xxhash.Sum64String(c.PLD))
		if !known || q.Busy || q.Rest.IsZero() {
			continue
		}
		m := record.OfQueue(q)
		m.SetRest(time.Time{})
		rested, kept = append(rested, q), append(kept, m)
	}
	f.mu.Unlock()
	for i, q := range rested { // are encoded without the lock
		if err := errors.Join(tx.touch(s, q.PLD), s.saveMeta(tx.Tx, q.PLD, kept[i])); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, q := range rested {
			q.Rest = time.Time{}
			s.schedule.Place(q, f.opts.Now())
		}
	}, nil
}

// reclaim returns the claim as it stands, or a new one of the URLs that are still free.
func (f *Frontier) reclaim(tx *transaction, s *state, batch, nonce string, was Claim, known []string, drop bool) (Claim, []crawl.Target, error) {
	f.mu.Lock()
	was, held := s.claims.Open(was, batch, s.newLife(nonce))
	act := ring.Fetch
	if !held {
		act, was.Epoch, was.Version = ring.Claim, s.epoch(f), s.Version
	}
	if !held && len(known) > 0 {
		if u, err := urls.Trusted(known[0]); err == nil {
			was.Queue = record.KeyOf(u).PLD
		}
	}
	q, there := s.queues[was.Queue]
	blocked := !held && (!there || q.Busy)
	f.mu.Unlock()
	if blocked { // another claim is in progress on the queue: what it leaves is taken up later
		return was, nil, nil
	}
	if err := s.check(f, act, was.Queue, was.Epoch); errors.Is(err, ring.ErrStale) || !held && err != nil { // another worker asks its URLs
		if held && !drop {
			return was, nil, fmt.Errorf("claim %s: %w: its partition is another worker's since", was.ID, ring.ErrNotNow)
		}
		return was, nil, nil
	} else if err != nil {
		return was, nil, err
	}
	if !held {
		for _, text := range known {
			if u, err := urls.Trusted(text); err == nil {
				was.URLs = append(was.URLs, record.KeyOf(u).URL)
			}
		}
	}
	was.Deadline = f.opts.Now().Add(f.opts.ClaimTTL)
	targets, err := f.targets(tx, s, &was)
	return was, targets, err
}

// targets reads the claim's URLs that still wait.
func (f *Frontier) targets(tx *transaction, s *state, c *Claim) ([]crawl.Target, error) {
	var targets []crawl.Target
	kept := c.URLs[:0:0]
	c.Requisites = 0
	for _, hash := range c.URLs {
		k := record.Key{PLD: c.Queue, URL: hash}
		r, found, err := tx.Record(s.keys.Record(k))
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		holder := s.claims.Holder(k.PLD, k.URL)
		f.mu.Unlock()
		if !found || r.State != record.Waiting || holder != "" && holder != c.ID {
			continue
		}
		t := crawl.Target{
			URL: r.URL, Via: r.Via, Path: r.Path, Attempts: int(r.Attempts),
			Priority:     queue.Score(r.Position.Priority),
			LinkFeatures: r.Features, Submitted: r.Submitted(),
		}
		class := crawl.ClassOf(r.Path)
		if class != crawl.ClassPage {
			c.Requisites++
		}
		if class == crawl.ClassRequisite { // whose position says nothing of what it is worth
			t.Priority = queue.Score(queue.Priority(r.Scores.Value(s.Definition.Order.Update), s.Definition.Order.Update == crawl.UpdateSum))
		}
		if r.Visit.Digest != "" {
			_, err := tx.Get(s.keys.Print(k), func(raw []byte) error {
				t.Prints = bytes.Clone(raw)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if t.Previous, err = s.previous(tx, k, &r, c.Archive); err != nil {
			return nil, err
		}
		kept = append(kept, hash)
		targets = append(targets, t)
	}
	c.URLs = kept
	return targets, nil
}

// previous is what a URL is asked for again by, for an archive: nothing but what a browser made of it unless its last capture is a whole page there, for a revisit must not
// refer to another record. Earlier versions have kept validators of error pages, too.
func (s *state) previous(tx *transaction, k record.Key, r *record.Record, archive int) (crawl.Visit, error) {
	if r.Archive != archive {
		return crawl.Visit{}, nil
	}
	is, err := s.original(tx.Reader, k.PLD, r)
	if err != nil || !is {
		return crawl.Visit{Shown: r.Visit.Shown}, err
	}
	v := r.Visit
	if v.URL == "" {
		v.URL = r.URL
	}
	return v, nil
}

// Renew puts off the deadlines of a batch's claims; ErrNoBatch if it has none any more.
func (h Batch) Renew() error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%w: %s", ErrNoBatch, h.id)
	for _, c := range s.claims.OfBatch(h.id) {
		c.Deadline = h.f.opts.Now().Add(h.f.opts.ClaimTTL)
		err = nil
	}
	return err
}

// GiveBack returns a failed batch's URLs to their queues, which rest until a time, unless the batch is run
// again before and commits.
func (h Batch) GiveBack(rest time.Time) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		ch := s.claims.Drop(s.claims.OfBatch(h.id), s.terms())
		h.f.mu.Unlock()
		if len(ch.Dropped) == 0 {
			return nil, nil
		}
		h.f.draft(tx, s).Totals.Failed++
		for _, c := range ch.Dropped {
			h.f.mu.Lock()
			q := s.queue(c.Queue, c.PLD)
			m := record.OfQueue(q)
			m.Rest = record.Millis(times.Latest(q.Rest, rest))
			h.f.mu.Unlock()
			if err := s.saveMeta(tx.Tx, c.Queue, m); err != nil {
				return nil, err
			}
		}
		apply, err := h.f.saveClaims(tx, s, ch)
		return func() {
			for _, c := range ch.Dropped {
				q := s.queue(c.Queue, c.PLD)
				q.Rest = times.Latest(q.Rest, rest)
			}
			apply()
		}, err
	})
}

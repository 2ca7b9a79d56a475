package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/times"
)

// What claims become is decided by the package claims. These are its types and errors.
type (
	Claim      = claims.Claim
	EndedLease = claims.EndedLease
	LaneEnd    = claims.LaneEnd
	Confirmed  = claims.Confirmed
	RestsError = claims.RestsError
)

var (
	ErrAsked      = claims.ErrAsked      // of Lane.Borrow
	ErrUnreturned = claims.ErrUnreturned // of Lane.BorrowAddress
)

// Claim returns a claim as it stands.
func (h Lane) Claim() (Claim, bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		if c := s.claims.Get(h.claim); c != nil {
			return *c, true
		}
	}
	return Claim{}, false
}

// Claims returns the claims of a batch.
func (h Batch) Claims() []Claim {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		return copied(s.claims.OfBatch(h.id))
	}
	return nil
}

// copied are the claims as they stand; Frontier.mu is held.
func copied(list []*Claim) (claims []Claim) {
	for _, c := range list {
		claims = append(claims, *c)
	}
	return claims
}

// Unstarted lists the batches that claims of a round of claiming are bound to and that have not begun. An attempt of that round that
// was killed between the two may not have started them, and nobody else knows of them.
func (h Claims) Unstarted(round int64) (batches []string) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		return s.claims.Unstarted(round)
	}
	return nil
}

// Before counts the claims in progress that were made by an earlier version of the definition.
func (h Claims) Before(version int) int {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return 0
	}
	return len(s.claims.Where(func(c *Claim) bool { return c.Version < version }))
}

// held reports whether a claim is in progress on a queue.
func (f *Frontier) held(s *state, pld uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.claims.InProgress(pld)
}

// gone reports whether a queue that a round has picked is not that of the crawl any more, see state.has. In a mutation the answer
// stands until its end: queues are evicted between two.
func (f *Frontier) gone(s *state, q *queue.Queue) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !s.has(q)
}

// heldElsewhere reports whether a claim of another crawl is in progress on a host.
func (f *Frontier) heldElsewhere(s *state, pld uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hosts.elsewhere(s, pld).After(f.opts.Now())
}

// busyUntil is until when a crawl makes no claims for an address, because a shard has said so.
func (f *Frontier) busyUntil(s *state, address string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.claims.BusyUntil(address)
}

// terms are what the crawl's claims depend on now; Frontier.mu is held, or the writer calls it.
func (s *state) terms() claims.Terms {
	o, longest := s.hosts.opts, s.maxDelays
	if longest == nil {
		longest = s.Definition.MaxDelayOf
	}
	unwanted := func(pld string) bool { return s.Aborted || s.Definition.StateOf(pld) != "" }
	return claims.Terms{Now: o.Now(), MaxDelayOf: longest, ClaimTTL: o.ClaimTTL, LeaseWait: o.LeaseWait, Unwanted: unwanted}
}

// updateClaims makes a decision about claims durable. It is taken under Frontier.mu.
func (h handle) updateClaims(decide func(s *state) (claims.Change, error)) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		ch, err := decide(s)
		h.f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return h.f.saveClaims(tx, s, ch)
	})
}

// saveClaims writes a change of claims; apply shows it in memory. Each entry of the journal touches its queue, whether its claim is
// still in progress or not: a mutation of the same group that reads the journal, as Confirm does, would take the new entry for the one that
// memory shows.
func (f *Frontier) saveClaims(tx *transaction, s *state, ch claims.Change) (apply func(), err error) {
	for i := range ch.Claims {
		c := &ch.Claims[i]
		if err := errors.Join(tx.touch(s, c.Queue), tx.Save(s.keys.Claim(c.ID), c)); err != nil {
			return nil, err
		}
	}
	for _, c := range ch.Dropped {
		if err := errors.Join(tx.touch(s, c.Queue), tx.Delete(s.keys.Claim(c.ID))); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	s.claims.Revise(ch.Releases, f.opts.Now())
	f.mu.Unlock()
	for _, r := range ch.Releases {
		if err := errors.Join(tx.touchRelease(s, r.Lease), tx.Save(s.keys.Release(r.Lease), r)); err != nil {
			return nil, err
		}
	}
	for _, lease := range ch.Confirmed {
		if err := errors.Join(tx.touchRelease(s, lease), tx.Delete(s.keys.Release(lease))); err != nil {
			return nil, err
		}
	}
	rest, err := f.restHosts(tx, ch.Rests)
	return func() {
		s.applyClaims(ch)
		rest()
	}, err
}

// recalledByGrant is how many queues that are parked for an address come back when a claim gets its lease there: one in its place, and one more, so that the
// line becomes as long as it may be.
const recalledByGrant = 2

// applyClaims shows a change of claims in memory, and puts their queues where they belong; Frontier.mu is held.
func (s *state) applyClaims(ch claims.Change) {
	now := s.hosts.opts.Now()
	for i := range ch.Claims {
		c := &ch.Claims[i]
		if was := s.claims.Get(c.ID); was != nil {
			if was.Batch == "" && c.Batch != "" {
				s.schedule.Recall(c.IP, recalledByGrant, now)
			}
			s.hosts.leave(s, was, c.Asks())
		}
	}
	s.claims.Apply(ch)
	for i := range ch.Claims {
		c := s.claims.Get(ch.Claims[i].ID)
		q := s.queue(c.Queue, c.PLD)
		q.Busy = true
		s.schedule.Remove(q)
		s.hosts.enter(s, c)
	}
	for _, d := range ch.Dropped {
		q := s.queue(d.Queue, "")
		q.Free(d.Back)
		q.Next = times.Latest(q.Next, d.Busy)
		q.Limit(s.pldLeft(q))
		s.schedule.Place(q, now)
		if d.Busy.IsZero() {
			s.schedule.Recall(d.IP, 1, now)
		}
		s.hosts.leave(s, d.Claim, nil)
	}
}

package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/times"
)

// Leases lists the leases of a crawl that may be held, be asked for, or be on their way back.
func (h Claims) Leases() ([]string, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	return s.claims.Leases(), nil
}

// LeaseUntil returns until when a claim's lease lasts; the zero time if it has none, or if the worker may not fetch in the claim's partition
// at present: a lane of a spread crawl makes requests only while its worker has the permit of the ring.
func (h Lane) LeaseUntil() time.Time {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		if c := s.claims.Get(h.claim); c != nil && c.Leased() && s.check(h.f, ring.Fetch, c.Queue, c.Epoch) == nil {
			return c.Lease
		}
	}
	return time.Time{}
}

// End says that a claim's fetching has ended: its lease goes into the journal of releases, if it still has it,
// and its hosts rest.
func (h Lane) End(end LaneEnd) error {
	until := times.Latest(end.Host, h.f.opts.Now())
	decide := func(s *state) (claims.Change, bool) { return s.claims.End(h.claim, end, s.terms()) }
	return h.updateQueue(decide, func(c *Claim, q *queue.Queue) {
		q.Pace = q.PaceAfter(len(c.URLs), c.NotBefore, until)
		q.Next, q.Unread, q.Delay = end.Host, end.Unread, max(q.Delay, end.Delay)
		if q.Fails++; !end.Unreachable {
			q.Fails = 0
		}
	})
}

// KeepRest notes what is owed to the host of a claim that is still fetched, or whose fetching was cut off.
func (h Lane) KeepRest(end LaneEnd) error {
	decide := func(s *state) (claims.Change, bool) { return s.claims.Owe(h.claim, end) }
	return h.updateQueue(decide, func(_ *Claim, q *queue.Queue) { q.Delay = max(q.Delay, end.Delay) })
}

// updateQueue writes what decide says of the claim, unless it says that nothing changes, and what edit makes of its queue. edit is called
// twice, with what is written and with what memory holds; Frontier.mu is held each time. What it sets no other transaction changes while
// the claim is in progress.
func (h Lane) updateQueue(decide func(*state) (claims.Change, bool), edit func(*Claim, *queue.Queue)) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		ch, changes := decide(s)
		if !changes {
			h.f.mu.Unlock()
			return nil, nil
		}
		claim := *s.claims.Get(h.claim)
		q := s.queue(claim.Queue, claim.PLD)
		now := *q
		edit(&claim, &now)
		m := record.OfQueue(&now)
		h.f.mu.Unlock()
		if err := errors.Join(tx.touch(s, claim.Queue), s.saveMeta(tx.Tx, claim.Queue, m)); err != nil {
			return nil, err
		}
		save, err := h.f.saveClaims(tx, s, ch)
		return func() {
			edit(&claim, q)
			save()
			s.schedule.Place(q, h.f.opts.Now())
		}, err
	})
}

// Yield gives the lease of a claim back while an answer is still read, at most until a time: its address may be
// asked again from next on, its hosts not before the claim has ended. It asks nothing more.
func (h Lane) Yield(next, until time.Time) error {
	return h.updateClaims(func(s *state) (claims.Change, error) { return s.claims.Yield(h.claim, next, until), nil })
}

package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/record"
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

// LeaseUntil returns until when a claim's lease lasts; the zero time if it has none.
func (h Lane) LeaseUntil() time.Time {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		if c := s.claims.Get(h.claim); c != nil && c.Leased() {
			return c.Lease
		}
	}
	return time.Time{}
}

// End says that a claim's fetching has ended: its lease goes into the journal of releases, if it still has it,
// and its hosts rest.
func (h Lane) End(end LaneEnd) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		ch, ends := s.claims.End(h.claim, end, s.terms())
		if !ends {
			h.f.mu.Unlock()
			return nil, nil
		}
		c := s.claims.Get(h.claim)
		q := s.queue(c.Queue, c.PLD)
		fails, unread := 0, end.Unread
		if end.Unreachable {
			fails = q.Fails + 1
		}
		pace, delay := q.PaceAfter(len(c.URLs), c.NotBefore, times.Latest(end.Host, h.f.opts.Now())), max(q.Delay, end.Delay)
		m := record.OfQueue(q)
		m.Next, m.Fails, m.Unread, m.Pace, m.Delay = record.Millis(end.Host), fails, unread, pace.Milliseconds(), delay.Milliseconds()
		h.f.mu.Unlock()
		if err := errors.Join(tx.touch(s, c.Queue), s.saveMeta(tx.Tx, c.Queue, m)); err != nil {
			return nil, err
		}
		save, err := h.f.saveClaims(tx, s, ch)
		return func() {
			q.Next, q.Fails, q.Unread, q.Pace, q.Delay = end.Host, fails, unread, pace, delay
			save()
			s.schedule.Place(q, h.f.opts.Now())
		}, err
	})
}

// KeepRest notes what is owed to the host of a claim that is still fetched, or whose fetching was cut off.
func (h Lane) KeepRest(end LaneEnd) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		ch, more := s.claims.Owe(h.claim, end)
		if !more {
			h.f.mu.Unlock()
			return nil, nil
		}
		c := s.claims.Get(h.claim)
		q := s.queue(c.Queue, c.PLD)
		m := record.OfQueue(q)
		delay := max(q.Delay, end.Delay)
		m.Delay = delay.Milliseconds()
		h.f.mu.Unlock()
		if err := errors.Join(tx.touch(s, c.Queue), s.saveMeta(tx.Tx, c.Queue, m)); err != nil {
			return nil, err
		}
		save, err := h.f.saveClaims(tx, s, ch)
		return func() {
			q.Delay = delay
			save()
		}, err
	})
}

// Yield gives the lease of a claim back while an answer is still read, at most until a time: its address may be
// asked again from next on, its hosts not before the claim has ended. It asks nothing more.
func (h Lane) Yield(next, until time.Time) error {
	return h.updateClaims(func(s *state) (claims.Change, error) { return s.claims.Yield(h.claim, next, until), nil })
}

package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Host is what is known of a host that is borrowed.
type Host struct {
	Next  time.Time     // not to be asked before
	Delay time.Duration // the longest Crawl-delay that is known of it
}

// Borrow gives a claim the right to ask the host of a URL until a time, beside its own: a robots.txt may lie elsewhere.
// No other claim asks it meanwhile, of whatever crawl. ErrAsked if one does. The host of the claim itself is always its.
// RestsError if another host rests until then. A shorter rest is waited out: two hosts whose robots.txt lie with each other,
// each with a long Crawl-delay, would otherwise find each other at rest each time.
//
// The right is on disk, with the claim: a worker that is killed may have asked the host at the last moment, so that nobody
// else asks it until the right is over and the longest pause after it, unless the claim ends before. If the claim asks for it
// again without a Return, the longest pause comes first.
func (h Lane) Borrow(at urls.URL, until time.Time) (host Host, err error) {
	pld := record.KeyOf(at).PLD
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		delay, err := h.f.crawlDelay(pld)
		if err := errors.Join(err, tx.touch(nil, pld)); err != nil {
			return nil, err
		}
		h.f.mu.Lock()
		t := s.terms()
		known := claims.Host{
			PLD: pld, Name: at.Host(), Delay: delay, Next: h.f.hosts.next[pld],
			Asked: h.f.hosts.asked(claimRef{s, h.claim}, pld, t.Now),
		}
		ch, next, err := s.claims.BorrowHost(h.claim, known, until, t)
		h.f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		host = Host{next, delay}
		return h.f.saveClaims(tx, s, ch)
	})
	return host, err
}

// asked reports whether anyone but one claim may ask a host now: a claim that has a lease, or has borrowed the host. Those
// that wait for their lease do not; they find the host taken when they get it.
func (h *hosts) asked(but claimRef, pld uint64, now time.Time) bool {
	for _, ref := range h.claims[pld] {
		if c := ref.crawl.claims.Get(ref.id); c != nil && ref != but && c.Batch != "" && c.Keeps(pld, ref.crawl.terms()).After(now) {
			return true
		}
	}
	return false
}

// Return ends the right to ask a host that was borrowed; next is when it may be asked again.
func (h Lane) Return(at urls.URL, next time.Time) error {
	return h.updateClaims(func(s *state) (claims.Change, error) {
		return s.claims.ReturnHost(h.claim, record.KeyOf(at).PLD, next), nil
	})
}

// KnowDelay keeps the Crawl-delay of the host of a URL, unless the crawl knows of a longer one: its robots.txt may not be readable
// the next time.
func (h URLs) KnowDelay(at urls.URL, delay time.Duration) error {
	pld := record.KeyOf(at).PLD
	return h.update(func(s *state, tx *transaction) (func(), error) {
		if err := errors.Join(tx.touch(s, pld), h.f.loadQueues(s, pld)); err != nil {
			return nil, err
		}
		h.f.mu.Lock()
		m := record.Queue{Name: at.PLD()}
		if q, there := s.known(pld); there {
			m = record.OfQueue(q)
		}
		borrowers := h.f.hosts.borrowers(s, pld, delay)
		h.f.mu.Unlock()
		if delay.Milliseconds() > m.Delay {
			m.Delay = delay.Milliseconds()
		}
		if err := s.saveMeta(tx.Tx, pld, m); err != nil {
			return nil, err
		}
		save, err := h.f.saveClaims(tx, s, claims.Change{Claims: borrowers})
		return func() {
			q := s.queue(pld, m.Name)
			q.Delay = time.Duration(m.Delay) * time.Millisecond
			s.schedule.Place(q, h.f.opts.Now())
			save()
		}, err
	})
}

// borrowers are the claims of a crawl that may ask a host beside their own, with the Crawl-delay that is known of it now.
func (h *hosts) borrowers(s *state, pld uint64, delay time.Duration) (list []Claim) {
	for _, ref := range h.claims[pld] {
		if c := s.claims.Get(ref.id); c != nil && ref.crawl == s && c.Queue != pld {
			list = append(list, c.RaiseDelay(pld, delay))
		}
	}
	return list
}

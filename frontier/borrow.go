package frontier

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// ErrAsked says that a host is asked by another claim.
var ErrAsked = errors.New("its host is asked by another claim")

// RestsError says that a host rests for longer than the lease lasts under which it is to be asked.
type RestsError struct {
	Host  string
	Until time.Time
}

func (e *RestsError) Error() string {
	return "its host " + e.Host + " rests until " + e.Until.UTC().Format(time.RFC3339)
}

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
		now := h.f.opts.Now()
		owner := claimRef{s, h.claim}
		var borrower Claim
		c, known := s.claims[h.claim]
		if known {
			borrower = *c
		}
		asked := h.f.hosts.asked(owner, pld, now)
		host = Host{Next: h.f.hosts.next[pld], Delay: delay}
		h.f.mu.Unlock()
		switch {
		case !known || borrower.Ended:
			return nil, fmt.Errorf("the claim %s that would ask %s has ended", h.claim, at.Host())
		case borrower.Queue == pld:
			return nil, nil
		case asked:
			return nil, fmt.Errorf("%w: %s", ErrAsked, at.Host())
		}
		loans, mine := borrower.withoutLoan(pld), Borrowed{pld, until, delay}
		if len(loans) < len(borrower.Borrowed) {
			host.Next = times.Latest(host.Next, now.Add(s.pauseOf(&borrower, mine)))
		}
		if !host.Next.Before(until) {
			return nil, &RestsError{at.Host(), host.Next}
		}
		borrower.Borrowed = append(loans, mine)
		if err := tx.touch(s, borrower.Queue); err != nil {
			return nil, err
		}
		return h.f.saveClaims(tx, s, []Claim{borrower}, nil)
	})
	return host, err
}

// asked reports whether anyone but one claim may ask a host now: a claim that has a lease, or has borrowed the host. Those
// that wait for their lease do not; they find the host taken when they get it.
func (h *hosts) asked(but claimRef, pld uint64, now time.Time) bool {
	for _, ref := range h.out[pld] {
		if c, known := ref.crawl.claims[ref.id]; known && ref != but && c.Batch != "" && h.holds(ref.crawl, c, pld).After(now) {
			return true
		}
	}
	return false
}

// Return ends the right to ask a host that was borrowed; next is when it may be asked again.
func (h Lane) Return(at urls.URL, next time.Time) error {
	pld := record.KeyOf(at).PLD
	return h.update(func(s *state, tx *transaction) (func(), error) {
		rest, err := h.f.restHost(tx, pld, next)
		if err != nil {
			return nil, err
		}
		h.f.mu.Lock()
		c, known := s.claims[h.claim]
		var returned Claim
		if known {
			returned = *c
			returned.Borrowed = c.withoutLoan(pld)
		}
		h.f.mu.Unlock()
		var claims []Claim
		if known {
			if err := tx.touch(s, returned.Queue); err != nil {
				return nil, err
			}
			claims = append(claims, returned)
		}
		save, err := h.f.saveClaims(tx, s, claims, nil)
		return func() {
			rest()
			save()
		}, err
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
		for _, c := range borrowers {
			if err := tx.touch(s, c.Queue); err != nil {
				return nil, err
			}
		}
		save, err := h.f.saveClaims(tx, s, borrowers, nil)
		return func() {
			q := s.queue(pld, m.Name)
			q.Delay = time.Duration(m.Delay) * time.Millisecond
			s.schedule.Place(q, h.f.opts.Now())
			save()
		}, err
	})
}

// borrowers are the claims of a crawl that may ask a host beside their own, with the Crawl-delay that is known of it now.
func (h *hosts) borrowers(s *state, pld uint64, delay time.Duration) (claims []Claim) {
	for _, ref := range h.out[pld] {
		c, known := s.claims[ref.id]
		if !known || ref.crawl != s || c.Queue == pld {
			continue
		}
		changed := *c
		changed.Borrowed = slices.Clone(c.Borrowed)
		for i := range changed.Borrowed {
			if b := &changed.Borrowed[i]; b.Queue == pld {
				b.Delay = max(b.Delay, delay)
			}
		}
		claims = append(claims, changed)
	}
	return claims
}

// pauseOf is the longest pause that may be due after a request to a host that a claim has borrowed.
func (s *state) pauseOf(c *Claim, b Borrowed) time.Duration { return max(s.longestPause(c), b.Delay) }

// unreturned adds the rests of the hosts that a claim has borrowed and not returned when it ends: when they were asked last
// is not known, so that the longest pause runs from now on.
func (f *Frontier) unreturned(s *state, c *Claim, rests map[uint64]time.Time) {
	for _, b := range c.Borrowed {
		rests[b.Queue] = times.Latest(rests[b.Queue], f.opts.Now().Add(s.pauseOf(c, b)))
	}
}

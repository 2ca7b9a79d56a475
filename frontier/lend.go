package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

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

// Host is what is known of a host that is lent.
type Host struct {
	Next  time.Time     // not to be asked before
	Delay time.Duration // the longest Crawl-delay that is known of it
}

// Lend gives a claim the right to ask the host of a URL until a time, beside its own: a robots.txt may lie elsewhere.
// No other claim asks it meanwhile, of whatever crawl. ErrAsked if one does. The host of the claim itself is always its. RestsError if another host rests
// until then. A shorter rest is waited out: two hosts whose robots.txt lie with each other, each with a long Crawl-delay,
// would else find each other at rest for ever.
// The right is not kept on disk; that the host is asked now, and what is owed for it, is.
func (f *Frontier) Lend(name, claim string, at urls.URL, until time.Time) (host Host, err error) {
	pld := keyOf(at).pld
	err = f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		delay, err := f.crawlDelay(pld)
		if err := errors.Join(err, f.touch(nil, pld)); err != nil {
			return nil, err
		}
		f.mu.Lock()
		now := f.opts.Now()
		owner := claimRef{s, claim}
		mine := false
		if c, known := s.claims[claim]; known {
			mine = c.Queue == pld
		}
		asked := !mine && f.hosts.asked(owner, pld, now)
		host = Host{Next: f.hosts.next[pld], Delay: delay}
		f.mu.Unlock()
		if asked {
			return nil, fmt.Errorf("%w: %s", ErrAsked, at.Host())
		}
		if mine {
			return nil, nil
		}
		if !host.Next.Before(until) {
			return nil, &RestsError{at.Host(), host.Next}
		}
		rest, err := f.restHost(txn, pld, now.Add(max(s.Definition.Politeness.MinDelay.D(), host.Delay)))
		return func() {
			f.hosts.lent[pld] = loan{owner, until}
			rest()
			f.hosts.tell(nil, pld)
		}, err
	})
	return host, err
}

// asked tells whether anyone but one claim may ask a host now: a claim that has a lease, or has borrowed the host. Those
// that wait for their lease do not; they find the host taken when they get it.
func (h *hosts) asked(but claimRef, pld uint64, now time.Time) bool {
	if l := h.lent[pld]; l.claim != but && l.until.After(now) {
		return true
	}
	for _, ref := range h.out[pld] {
		if c, known := ref.crawl.claims[ref.id]; known && ref != but && c.Batch != "" && h.holds(ref.crawl, c).After(now) {
			return true
		}
	}
	return false
}

// Return ends the right to ask a host that was lent; next is when it may be asked again.
func (f *Frontier) Return(name, claim string, at urls.URL, next time.Time) error {
	pld := keyOf(at).pld
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		rest, err := f.restHost(txn, pld, next)
		return func() {
			if f.hosts.lent[pld].claim == (claimRef{s, claim}) {
				delete(f.hosts.lent, pld)
			}
			rest()
			f.hosts.tell(nil, pld)
		}, err
	})
}

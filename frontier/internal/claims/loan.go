package claims

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// ErrAsked says that a host is asked by another claim.
var ErrAsked = errors.New("its host is asked by another claim")

// ErrUnreturned says that the lease which a claim has had on an address is still on its way back.
var ErrUnreturned = errors.New("its lease there is not given back yet")

// RestsError says that a host rests for longer than the lease lasts under which it is to be asked.
type RestsError struct {
	Host  string
	Until time.Time
}

func (e *RestsError) Error() string {
	return "its host " + e.Host + " rests until " + e.Until.UTC().Format(time.RFC3339)
}

// Host is a host that a claim is to borrow, by what is known of it.
type Host struct {
	PLD   uint64
	Name  string
	Asked bool          // another claim may ask it now
	Next  time.Time     // not to be asked before
	Delay time.Duration // the longest Crawl-delay that is known of it
}

// BorrowHost gives a claim the right to ask another host than its own until a time; next is when it may be asked first. There is nothing to borrow, and
// the claim does not change, if the host is its own. ErrAsked, *RestsError. A claim that has borrowed the host before without a return may have
// asked it at the last moment: the longest pause comes first.
func (s *Set) BorrowHost(id string, h Host, until time.Time, t Terms) (ch Change, next time.Time, err error) {
	c := s.claims[id]
	switch {
	case c == nil || c.Ended:
		return ch, next, fmt.Errorf("the claim %s that would ask %s has ended", id, h.Name)
	case c.Queue == h.PLD:
		return ch, h.Next, nil
	case h.Asked:
		return ch, next, fmt.Errorf("%w: %s", ErrAsked, h.Name)
	}
	borrower, loan := *c, Borrowed{h.PLD, until, h.Delay}
	borrower.Borrowed = c.withoutHost(h.PLD)
	next = h.Next
	if len(borrower.Borrowed) < len(c.Borrowed) {
		next = times.Latest(next, t.Now.Add(c.pauseOf(loan, t)))
	}
	if !next.Before(until) {
		return ch, next, &RestsError{h.Name, next}
	}
	borrower.Borrowed = append(borrower.Borrowed, loan)
	ch.Claims = []Claim{borrower}
	return ch, next, nil
}

// ReturnHost ends the right to ask a host that was borrowed; next is when it may be asked again.
func (s *Set) ReturnHost(id string, pld uint64, next time.Time) (ch Change) {
	ch.rest(pld, next)
	if c := s.claims[id]; c != nil {
		returned := *c
		returned.Borrowed = c.withoutHost(pld)
		ch.Claims = []Claim{returned}
	}
	return ch
}

// BorrowAddress notes that a claim asks for the lease of another address than its own. ErrUnreturned if it has ended before with such a
// note: the release that is on its way ends whatever was granted.
func (s *Set) BorrowAddress(id, ip string) (ch Change, err error) {
	c := s.claims[id]
	if c == nil || c.Ended {
		return ch, fmt.Errorf("the claim %s that would ask for %s has ended", id, ip)
	}
	if back, unreturned := s.journal[politeness.LoanOf(id, ip)]; unreturned && back.Number == 0 {
		return ch, fmt.Errorf("%w: %s", ErrUnreturned, ip)
	}
	asking := c.withoutAddress(ip)
	asking.Addresses = append(asking.Addresses, ip)
	ch.Claims = []Claim{asking}
	return ch, nil
}

// ReturnAddress gives the lease of an address back that was granted; the address is not to be asked before next.
func (s *Set) ReturnAddress(id, ip string, number int64, next time.Time) Change {
	ch := s.AddressRefused(id, ip)
	ch.Releases = []EndedLease{s.releaseAddress(id, ip, number, next)}
	return ch
}

// AddressRefused notes that the lease of an address was not granted, and will not be.
func (s *Set) AddressRefused(id, ip string) (ch Change) {
	if c := s.claims[id]; c != nil {
		ch.Claims = []Claim{c.withoutAddress(ip)}
	}
	return ch
}

// withoutAddress is the claim without the note that it has asked for an address.
func (c *Claim) withoutAddress(ip string) Claim {
	changed := *c
	changed.Addresses = slices.DeleteFunc(slices.Clone(c.Addresses), func(noted string) bool { return noted == ip })
	return changed
}

// releaseAddress is the release of a lease that a claim has borrowed. It keeps what an earlier one has said that is not sent yet.
func (s *Set) releaseAddress(claim, ip string, number int64, next time.Time) EndedLease {
	id := politeness.LoanOf(claim, ip)
	next = times.Latest(next, s.journal[id].Next)
	return EndedLease{Lease: id, IP: ip, Number: number, Next: next, Asked: !next.IsZero()}
}

// unreturned gives back what a claim that ends has borrowed and not returned. When it was asked last is not known, nor whether the leases
// of the addresses were granted: its worker was killed, or Temporal did not answer. So the longest pause runs from now on.
func (s *Set) unreturned(c *Claim, t Terms, ch *Change) {
	for _, b := range c.Borrowed {
		ch.rest(b.Queue, t.Now.Add(c.pauseOf(b, t)))
	}
	for _, ip := range c.Addresses {
		ch.Releases = append(ch.Releases, s.releaseAddress(c.ID, ip, 0, t.Now.Add(t.maxDelay(c.PLD))))
	}
}

package frontier

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// ErrUnreturned says that the lease which a claim has had on an address is still on its way back.
var ErrUnreturned = errors.New("its lease there is not given back yet")

// BorrowAddress notes that a claim asks for the lease of another address than its own, before it does. Temporal keeps what is asked
// for over the asker's end: a worker that is killed while it waits may be granted the lease later, when nobody hears of it, and the
// address would be left to nobody for politeness.LoanTTL. What is noted is given back when the claim ends, at the latest.
//
// ErrUnreturned if the claim has ended before with such a note, and is run again: the release that is on its way ends whatever was
// granted.
func (h Lane) BorrowAddress(ip string) error {
	return h.updateAddresses(ip, func(s *state, c *Claim) ([]Release, error) {
		if c == nil || c.Ended {
			return nil, fmt.Errorf("the claim %s that would ask for %s has ended", h.claim, ip)
		}
		if back, unreturned := s.journal[politeness.LoanOf(c.ID, ip)]; unreturned && back.Number == 0 {
			return nil, fmt.Errorf("%w: %s", ErrUnreturned, ip)
		}
		c.Addresses = append(c.Addresses, ip)
		return nil, nil
	})
}

// ReturnAddress gives the lease of an address back that was granted; the address is not to be asked before next.
func (h Lane) ReturnAddress(ip string, number int64, next time.Time) error {
	return h.updateAddresses(ip, func(s *state, _ *Claim) ([]Release, error) {
		return []Release{s.releaseAddress(h.claim, ip, number, next)}, nil
	})
}

// AddressRefused says that the lease of an address was not granted, and will not be.
func (h Lane) AddressRefused(ip string) error {
	return h.updateAddresses(ip, func(*state, *Claim) ([]Release, error) { return nil, nil })
}

// updateAddresses writes what change makes of a claim in which an address is not noted any more, and the releases that it returns.
// The claim is nil if it is gone.
func (h Lane) updateAddresses(ip string, change func(s *state, c *Claim) ([]Release, error)) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		var claims []Claim
		var changed *Claim
		if c, known := s.claims[h.claim]; known {
			claims = []Claim{*c}
			changed = &claims[0]
			changed.Addresses = slices.DeleteFunc(slices.Clone(c.Addresses), func(noted string) bool { return noted == ip })
		}
		releases, err := change(s, changed)
		h.f.mu.Unlock()
		if err == nil && changed != nil {
			err = tx.touch(s, changed.Queue)
		}
		if err != nil {
			return nil, err
		}
		return h.f.saveClaims(tx, s, claims, releases)
	})
}

// unreturnedAddresses gives back the leases of other addresses that a claim which ends has asked for and not given back: its worker
// was killed, or Temporal did not answer. It is not known whether they were granted, nor when the address was asked last, so the
// longest pause runs from now on.
func (f *Frontier) unreturnedAddresses(s *state, c *Claim) (releases []Release) {
	for _, ip := range c.Addresses {
		releases = append(releases, s.releaseAddress(c.ID, ip, 0, f.opts.Now().Add(s.Definition.Politeness.MaxDelay.D())))
	}
	return releases
}

// releaseAddress is the release of a lease that a claim has borrowed. It keeps what an earlier one has said that is not sent yet.
func (s *state) releaseAddress(claim, ip string, number int64, next time.Time) Release {
	id := politeness.LoanOf(claim, ip)
	return Release{Lease: id, IP: ip, Number: number, Next: times.Latest(next, s.journal[id].Next)}
}

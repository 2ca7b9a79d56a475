package frontier

import (
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
)

// BorrowAddress notes that a claim asks for the lease of another address than its own, before it does. Temporal keeps what is asked
// for over the asker's end: a worker that is killed while it waits may be granted the lease later, when nobody receives the answer, and the
// address would be left to nobody for politeness.LoanTTL. What is noted is given back when the claim ends, at the latest.
//
// ErrUnreturned if the claim has ended before with such a note, and is run again: the release that is on its way ends whatever was
// granted.
func (h Lane) BorrowAddress(ip string) error {
	return h.updateClaims(func(s *state) (claims.Change, error) { return s.claims.BorrowAddress(h.claim, ip) })
}

// ReturnAddress gives the lease of an address back that was granted; the address is not to be asked before next.
func (h Lane) ReturnAddress(ip string, number int64, next time.Time) error {
	return h.updateClaims(func(s *state) (claims.Change, error) {
		return s.claims.ReturnAddress(h.claim, ip, number, next), nil
	})
}

// AddressRefused says that the lease of an address was not granted, and will not be.
func (h Lane) AddressRefused(ip string) error {
	return h.updateClaims(func(s *state) (claims.Change, error) { return s.claims.AddressRefused(h.claim, ip), nil })
}

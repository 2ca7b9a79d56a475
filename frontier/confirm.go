package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/claims"
)

// Confirm takes in what the politeness workflow has answered: releases that it has leave the journal, leases that it has
// renewed last longer, those that it refuses to renew are over at once, claims that it does not let wait go back to their queues. What names another grant than the present one is
// passed over.
func (h Claims) Confirm(done Confirmed) error {
	if len(done.Releases)+len(done.Renewed)+len(done.Refused)+len(done.Busy) == 0 {
		return nil
	}
	return h.updateClaims(func(s *state) (claims.Change, error) { return s.claims.Confirm(done, h.f.opts.Now()), nil })
}

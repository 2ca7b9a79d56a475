package frontier

import (
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// Confirmed is what the politeness workflow has answered to a round.
type Confirmed struct {
	Releases []politeness.Key `json:"releases,omitempty"` // that it has taken note of
	Renewed  []politeness.Key `json:"renewed,omitempty"`
	Until    time.Time        `json:"until,omitzero"`    // the renewed leases last until then
	Refused  []politeness.Key `json:"refused,omitempty"` // renewals: others have these addresses
}

// Answered is what is to be confirmed once the shards have refused renewals, and some have perhaps not answered in time: then what
// was sent may be lost, and goes out again with the next round.
func (c Confirmed) Answered(refused []politeness.Key, late bool) Confirmed {
	if late {
		c = Confirmed{}
	}
	c.Renewed = slices.DeleteFunc(slices.Clone(c.Renewed), func(k politeness.Key) bool { return slices.Contains(refused, k) })
	c.Refused = refused
	return c
}

// Confirm takes in what the politeness workflow has answered: releases that it has leave the journal, leases that it has
// renewed last longer, those that it refuses to renew are over at once. What names another grant than the present one is
// passed over.
func (h Crawl) Confirm(done Confirmed) error {
	if len(done.Releases)+len(done.Renewed)+len(done.Refused) == 0 {
		return nil
	}
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		defer h.f.mu.Unlock()
		var released []string
		for _, k := range done.Releases {
			if r, known := s.journal[k.Lease]; known && r.Number == k.Number {
				released = append(released, k.Lease)
			}
		}
		for _, lease := range released {
			if err := errors.Join(tx.touchRelease(s, lease), tx.Delete(s.keys.Release(lease))); err != nil {
				return nil, err
			}
		}
		var claims []Claim
		now := h.f.opts.Now()
		set := func(keys []politeness.Key, until time.Time, changes func(c *Claim) bool) error {
			for _, k := range keys {
				c, known := s.claims[k.Lease]
				if !known || c.Grant != k.Number || !c.leased() || !c.Lease.After(now) || !changes(c) {
					continue
				}
				if err := tx.touch(s, c.Queue); err != nil {
					return err
				}
				changed := *c
				changed.Lease = until
				claims = append(claims, changed)
			}
			return nil
		}
		if err := set(done.Renewed, done.Until, func(c *Claim) bool { return done.Until.After(c.Lease) }); err != nil {
			return nil, err
		}
		if err := set(done.Refused, now, func(*Claim) bool { return true }); err != nil {
			return nil, err
		}
		apply, err := h.f.saveClaims(tx, s, claims, nil)
		return func() {
			apply()
			for _, lease := range released {
				delete(s.journal, lease)
			}
		}, err
	})
}

// renewable reports whether a lease lasts long enough for its renewal to come in time: one that is over may
// be another's already.
func (f *Frontier) renewable(c *Claim, now time.Time) bool {
	return c.leased() && c.Lease.After(now.Add(renewalTime))
}

// renewalTime is what a renewal may take on its way.
const renewalTime = 15 * time.Second

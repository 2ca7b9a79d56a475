package claims

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// Confirmed is what the politeness workflow has answered to a round.
type Confirmed struct {
	Releases []politeness.Key `json:"releases,omitempty"` // that it has taken note of
	Renewed  []politeness.Key `json:"renewed,omitempty"`
	Until    time.Time        `json:"until,omitzero"`    // the renewed leases last until then
	Refused  []politeness.Key `json:"refused,omitempty"` // renewals: others have these addresses
	Busy     []string         `json:"busy,omitempty"`    // leases that were asked for and are not waited for, see politeness.Ask.Line
}

// Add adds what another shard has answered to the same round.
func (c *Confirmed) Add(more Confirmed) {
	c.Releases, c.Renewed = append(c.Releases, more.Releases...), append(c.Renewed, more.Renewed...)
	c.Refused, c.Busy = append(c.Refused, more.Refused...), append(c.Busy, more.Busy...)
	c.Until = times.Latest(c.Until, more.Until)
}

// Without is what is to be confirmed but some releases.
func (c Confirmed) Without(releases map[politeness.Key]bool) Confirmed {
	c.Releases = slices.DeleteFunc(slices.Clone(c.Releases), func(k politeness.Key) bool { return releases[k] })
	return c
}

// Answered is what is to be confirmed once the shards have refused renewals, and some have perhaps not answered in time: then what
// was sent may be lost, and is sent again with the next round.
func (c Confirmed) Answered(refused []politeness.Key, late bool) Confirmed {
	if late {
		c = Confirmed{}
	}
	c.Renewed = slices.DeleteFunc(slices.Clone(c.Renewed), func(k politeness.Key) bool { return slices.Contains(refused, k) })
	c.Refused = refused
	return c
}

// Confirm takes in what the politeness workflow has answered. What names another grant than the present one, or an earlier release of it,
// is passed over.
func (s *Set) Confirm(done Confirmed, now time.Time) (ch Change) {
	for _, k := range done.Releases {
		if r, known := s.journal[k.Lease]; known && r.Key() == k {
			ch.Confirmed = append(ch.Confirmed, k.Lease)
		}
	}
	set := func(keys []politeness.Key, until time.Time, changes func(c *Claim) bool) {
		for _, k := range keys {
			c := s.claims[k.Lease]
			if c == nil || c.Grant != k.Number || !c.Leased() || !c.Lease.After(now) || !changes(c) {
				continue
			}
			changed := *c
			changed.Lease = until
			ch.Claims = append(ch.Claims, changed)
		}
	}
	set(done.Renewed, done.Until, func(c *Claim) bool { return done.Until.After(c.Lease) }) // a lease is never shortened
	set(done.Refused, now, func(*Claim) bool { return true })
	ch.Dropped = s.busyClaims(done.Busy, now)
	return ch
}

// busyClaims are the claims whose asks were answered busy, to be dropped. There is nothing to release: the shard does not keep such an ask. If a
// round was served twice, and the ask was taken the other time, its lease is given back when it is granted.
func (s *Set) busyClaims(leases []string, now time.Time) (list []Dropped) {
	for _, lease := range leases {
		if c := s.claims[lease]; c != nil && c.Batch == "" {
			list = append(list, Dropped{Claim: c, Back: true, Busy: now.Add(BusyAddress)})
		}
	}
	return list
}

// RenewalTime is what a renewal may take on its way.
const RenewalTime = 15 * time.Second

// Renewals are the claims whose leases are to be renewed now, and when the next is due after that; zero if none is. A lease is renewed
// after half of its time, if it lasts long enough for that: one that is over may be another's already.
func (s *Set) Renewals(now time.Time, leaseTTL time.Duration) (list []*Claim, next time.Time) {
	list = s.Where(func(c *Claim) bool {
		if !c.Leased() || !c.Lease.After(now.Add(RenewalTime)) {
			return false
		}
		due := c.Lease.Add(-leaseTTL / 2)
		if now.After(due) {
			return true
		}
		if due = due.Add(time.Second); next.IsZero() {
			next = due
		} else {
			next = times.Earliest(next, due)
		}
		return false
	})
	return list, next
}

package frontier

import (
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// Release is a lease that has ended, on its way to the politeness workflow.
type Release struct {
	Lease  string    `json:"lease" cbor:"1,keyasint"`
	IP     string    `json:"ip" cbor:"2,keyasint"`
	Next   time.Time `json:"next,omitzero" cbor:"3,keyasint"`
	Number int64     `json:"number,omitempty" cbor:"10,keyasint,omitempty"` // of the grant that it ends; 0: whichever there is
	// Host, a PLD, is not to be asked before HostNext, by any worker; empty if it rests no longer than its address.
	Host     string    `json:"host,omitempty" cbor:"11,keyasint,omitempty"`
	HostNext time.Time `json:"host_next,omitzero" cbor:"12,keyasint,omitzero"`
	Trouble  string    `json:"trouble,omitempty" cbor:"13,keyasint,omitempty"` // that slows Host down; empty if none
}

// Key names the grant that is released.
func (r Release) Key() politeness.Key { return politeness.Key{Lease: r.Lease, Number: r.Number} }

// release ends the lease of a claim whose address, and whose host, are not to be asked before these times.
func (c *Claim) release(address, host time.Time) Release {
	r := Release{Lease: c.ID, IP: c.IP, Next: address, Number: c.Grant}
	if host.After(address) {
		r.Host, r.HostNext = c.PLD, host
	}
	return r
}

// withTrouble adds why the host of the claim is to be slowed down.
func (r Release) withTrouble(host string, end LaneEnd) Release {
	if end.Trouble != "" {
		r.Host, r.HostNext, r.Trouble = host, end.Host, end.Trouble
	}
	return r
}

// deleteClaims takes claims off the disk and ends their leases. Of those whose fetching did not say when the host may
// be asked again, it is not known when the last request was made, so the longest pause runs from now on, for the
// address and for the host.
func (f *Frontier) deleteClaims(tx *transaction, s *state, claims []*Claim) (apply func(), err error) {
	var releases []Release
	rests := map[uint64]time.Time{}
	now := f.opts.Now()
	for _, c := range claims {
		if err := tx.Delete(s.keys.Claim(c.ID)); err != nil {
			return nil, err
		}
		host := times.Latest(c.HostNotBefore, now.Add(s.longestPause(c)))
		if c.Ended {
			continue
		}
		f.unreturned(s, c, rests)
		releases = append(releases, f.unreturnedAddresses(s, c)...)
		switch {
		case c.Batch == "": // nothing was asked of it
			releases = append(releases, Release{Lease: c.ID, IP: c.IP})
			continue
		case c.leased():
			releases = append(releases, c.release(now.Add(s.Definition.Politeness.MaxDelay.D()), host))
		}
		rests[c.Queue] = times.Latest(rests[c.Queue], host)
	}
	rest, err := f.restHosts(tx, rests)
	if err != nil {
		return nil, err
	}
	released, err := f.saveClaims(tx, s, nil, releases)
	return func() {
		released()
		rest()
	}, err
}

// longestPause is the longest pause that may be due after a request of a claim, but for those that its host has
// asked for by Retry-After, which are written down at once.
func (s *state) longestPause(c *Claim) time.Duration {
	return max(s.Definition.Politeness.MaxDelay.D(), c.Delay)
}

// saveClaims writes changed claims and new journal entries. Each entry touches its queue, whether the claim is still known or not: a
// mutation of the same group that reads the journal, as Confirm does, would take the new entry for the one that memory shows.
func (f *Frontier) saveClaims(tx *transaction, s *state, claims []Claim, releases []Release) (func(), error) {
	for i := range claims {
		if err := tx.Save(s.keys.Claim(claims[i].ID), &claims[i]); err != nil {
			return nil, err
		}
	}
	for _, r := range releases {
		if err := errors.Join(tx.touchRelease(s, r.Lease), tx.Save(s.keys.Release(r.Lease), r)); err != nil {
			return nil, err
		}
	}
	changed := slices.Clone(claims)
	return func() {
		for i := range changed {
			s.indexClaim(&changed[i])
		}
		for _, r := range releases {
			s.journal[r.Lease] = r
		}
	}, nil
}

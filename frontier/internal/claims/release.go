package claims

import (
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// EndedLease is a lease that has ended, in the journal until the politeness workflow has confirmed its release. Its times are points in
// time by the worker's clock; a politeness.Release, which is sent, has durations, because the clock of its reader is another.
type EndedLease struct {
	Lease  string    `json:"lease" cbor:"1,keyasint"`
	IP     string    `json:"ip" cbor:"2,keyasint"`
	Next   time.Time `json:"next,omitzero" cbor:"3,keyasint"`
	Number int64     `json:"number,omitempty" cbor:"10,keyasint,omitempty"` // of the grant that it ends; 0: whichever there is
	// Host, a PLD, is not to be asked before HostNext, by any worker; empty if it rests no longer than its address.
	Host     string             `json:"host,omitempty" cbor:"11,keyasint,omitempty"`
	HostNext time.Time          `json:"host_next,omitzero" cbor:"12,keyasint,omitzero"`
	Trouble  politeness.Trouble `json:"trouble,omitempty" cbor:"13,keyasint,omitempty"` // that slows Host down; empty if none

	// Revision distinguishes releases of one grant: a lease that was given back while an answer was read is released once more, with how the
	// answer ended, and the confirmation of the former release must not take that out of the journal. See Set.Revise.
	Revision int64 `json:"revision,omitempty" cbor:"14,keyasint,omitempty"`

	// Asked says that a request was made, and that the lane has ended: with Trouble, or without one. Of a lease that is given back before, the shard would
	// take a refusal that is met later for one that it knows.
	Asked bool `json:"asked,omitempty" cbor:"15,keyasint,omitempty"`
}

// Key names the release, and the grant that it ends.
func (r EndedLease) Key() politeness.Key {
	return politeness.Key{Lease: r.Lease, Number: r.Number, Revision: r.Revision}
}

// Revise gives releases that go into the journal their revisions, which grow: each is the time, in microseconds, or one more than that of
// the release in whose place it comes.
func (s *Set) Revise(releases []EndedLease, now time.Time) {
	for i := range releases {
		r := &releases[i]
		r.Revision = max(s.journal[r.Lease].Revision+1, now.UnixMicro())
	}
}

// Release is what a shard is sent of it at a time: rests count from when the shard reads it.
func (r EndedLease) Release(crawl, worker string, now time.Time) politeness.Release {
	return politeness.Release{
		Lease: r.Lease, Crawl: crawl, Worker: worker, IP: r.IP, Number: r.Number,
		Rest: politeness.RestOf(r.Next, now), Asked: r.Asked, Host: r.Host, HostRest: politeness.RestOf(r.HostNext, now), Trouble: r.Trouble,
	}
}

// release ends the lease of a claim whose address, and whose host, are not to be asked before these times.
func (c *Claim) release(address, host time.Time) EndedLease {
	r := EndedLease{Lease: c.ID, IP: c.IP, Next: address, Number: c.Grant}
	if host.After(address) {
		r.Host, r.HostNext = c.PLD, host
	}
	return r
}

// withTrouble adds why the host of the claim is to be slowed down.
func (r EndedLease) withTrouble(host string, end LaneEnd) EndedLease {
	if end.Trouble != "" {
		r.Host, r.HostNext, r.Trouble = host, end.Host, end.Trouble
	}
	return r
}

package claims

import (
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
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

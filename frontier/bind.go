package frontier

import (
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// reportedRestTTL is how long the rest of a host counts that another worker has reported: that worker may correct it, as after a slow
// answer. Whoever asks for the next lease of the host is given the time again.
const reportedRestTTL = 30 * time.Second

// maxIdle is how long an address may be held for a host that rests: a claim that comes for longer gives its lease back.
const maxIdle = 2 * time.Second

// asker is who has asked for a grant.
type asker int

const (
	roundAsked asker = iota // a round of claiming, for the lane of a new claim
	batchAsked              // the batch, for its lanes that continue: those that have ended start again
)

// granted is all that decides what becomes of a grant.
type granted struct {
	politeness.Grant        // times are by the worker's clock
	claim            *Claim // that the grant is of; nil: it is gone
	batch            string // that the grant came to
	asker            asker
	now              time.Time
	hostRest         time.Time // until when the host rests, by what this worker knows
	elsewhere        time.Time // until when others than the claim's queue keep the host
}

// verdict is what becomes of a grant.
type verdict int

const (
	grantIgnored  verdict = iota // another batch has the claim, and with it the lease
	grantReleased                // nobody makes use of the lease: it is given back
	grantLate                    // the host is not to be asked now: the lease is given back, and the claim, which no batch has, dropped
	grantKept                    // this very grant was taken before: the claim stays as it is
	grantTaken                   // the claim has the lease
)

// bound is the decision on a grant.
type bound struct {
	verdict
	notBefore time.Time // when the claim that takes the grant may ask its host
	rest      time.Time // until when the host rests by the report of another worker; zero if nothing is reported
}

// bindGrant decides what becomes of a grant.
func bindGrant(g granted) bound {
	c := g.claim
	switch {
	case c == nil:
		return bound{verdict: grantReleased}
	case c.Batch != "" && c.Batch != g.batch:
		return bound{verdict: grantIgnored}
	}
	free := c.Batch == ""
	switch {
	case !free && g.Number <= c.Grant:
		return bound{verdict: grantKept}
	case !free && !c.leased() && g.asker != batchAsked: // its round was sent twice: the lane has ended under the first grant
		return bound{verdict: grantReleased}
	}
	out := bound{verdict: grantTaken, notBefore: g.NotBefore}
	if g.HostNotBefore.After(g.now) {
		out.rest = g.now.Add(min(g.HostNotBefore.Sub(g.now), reportedRestTTL))
	}
	if g.SlowUntil.After(g.now) { // which nobody corrects
		out.rest = times.Latest(out.rest, g.SlowUntil)
	}
	if rest := times.Latest(g.hostRest, g.HostNotBefore); rest.After(g.now) { // a rest that is over is forgotten some time, by a restart too
		out.notBefore = times.Latest(out.notBefore, rest)
	}
	atWork := !free && c.leased() && c.Lease.After(g.now) // the grant only confirms its lease
	idle := free && out.notBefore.After(times.Latest(g.NotBefore, g.now).Add(maxIdle))
	busy := g.elsewhere.After(g.now) // another claim asks its host, or has asked it, perhaps at another address
	switch {
	case atWork || !busy && !idle:
	case free:
		out.verdict = grantLate
	default:
		out.verdict = grantReleased
	}
	return out
}

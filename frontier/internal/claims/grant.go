package claims

import (
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// ReportedRestTTL is how long the rest of a host counts that another worker has reported: that worker may correct it, as after a slow
// answer. The next ask for a lease of the host gets the time again.
const ReportedRestTTL = 30 * time.Second

// MaxIdle is how long an address may be held for a host that rests: a claim that comes for longer gives its lease back.
const MaxIdle = 2 * time.Second

// Asker is who has asked for a grant.
type Asker int

const (
	RoundAsked Asker = iota // a round of claiming, for the lane of a new claim
	BatchAsked              // the batch, for its lanes that continue: those that have ended start again
)

// Grant is a lease that was granted to a batch, and what becomes of it depends on.
type Grant struct {
	politeness.Grant        // its times are by the worker's clock
	Batch            string // that it came to
	Asker            Asker
	Fresh            Life          // of the batch, if it has none
	HostRest         time.Time     // until when the host rests, by what this worker knows
	Elsewhere        time.Time     // until when others than the claim's queue keep the host
	Delay            time.Duration // the longest Crawl-delay that is known of the host
}

// Grant takes a lease for its claim, or gives it back. The claims of the change are those that have their lease.
func (s *Set) Grant(g Grant, t Terms) (ch Change) {
	c := s.claims[g.Lease]
	if c != nil && c.Batch == "" && t.unwanted(c) {
		return s.Drop([]*Claim{c}, t)
	}
	out := bindGrant(c, g, t.Now)
	if !out.rest.IsZero() {
		ch.rest(c.Queue, out.rest)
	}
	switch out.verdict {
	case grantKept:
		ch.Claims = []Claim{*c}
	case grantTaken:
		taken := *c
		if c.Batch == "" {
			s.join(&taken, g.Batch, g.Fresh)
		}
		taken.Lease, taken.NotBefore, taken.Ended, taken.Reading = g.Deadline, out.notBefore, false, time.Time{}
		taken.Grant, taken.Delay, taken.Deadline = g.Number, max(c.Delay, g.Delay), t.Now.Add(t.ClaimTTL)
		ch.Claims = []Claim{taken}
		if _, released := s.journal[c.ID]; released { // before, and it must not be now
			ch.Confirmed = []string{c.ID}
		}
	case grantLate:
		ch.Add(s.Drop([]*Claim{c}, t))
	case grantReleased:
		ch.Releases = []EndedLease{s.unwanted(g)}
	}
	return ch
}

// unwanted gives a grant back that nobody makes use of. What the lease has said before when it was given back, and may not have
// been sent yet, stays said: its lane may have asked the address just now. It ends no less than that either: an earlier grant that is delivered again
// says nothing of a later one, which the shard may have made since.
func (s *Set) unwanted(g Grant) EndedLease {
	r, said := s.journal[g.Lease]
	if !said || r.Number > 0 {
		r.Number = max(r.Number, g.Number)
	}
	r.Lease, r.IP = g.Lease, g.IP
	return r
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

// bindGrant decides what becomes of a grant of a claim; nil if that is gone.
func bindGrant(c *Claim, g Grant, now time.Time) bound {
	switch {
	case c == nil:
		return bound{verdict: grantReleased}
	case c.Batch != "" && c.Batch != g.Batch:
		return bound{verdict: grantIgnored}
	}
	free := c.Batch == ""
	switch {
	case !free && g.Number <= c.Grant:
		return bound{verdict: grantKept}
	case !free && !c.Leased() && g.Asker != BatchAsked: // its round was sent twice: the lane has ended under the first grant
		return bound{verdict: grantReleased}
	}
	out := bound{verdict: grantTaken, notBefore: g.NotBefore}
	if g.HostNotBefore.After(now) {
		out.rest = now.Add(min(g.HostNotBefore.Sub(now), ReportedRestTTL))
	}
	if g.SlowUntil.After(now) { // which nobody corrects
		out.rest = times.Latest(out.rest, g.SlowUntil)
	}
	if rest := times.Latest(g.HostRest, g.HostNotBefore); rest.After(now) { // a rest that is over is forgotten some time, by a restart too
		out.notBefore = times.Latest(out.notBefore, rest)
	}
	atWork := !free && c.Leased() && c.Lease.After(now) // the grant only confirms its lease
	idle := free && out.notBefore.After(times.Latest(g.NotBefore, now).Add(MaxIdle))
	busy := g.Elsewhere.After(now) // another claim asks its host, or has asked it, perhaps at another address
	switch {
	case atWork || !busy && !idle:
	case free:
		out.verdict = grantLate
	default:
		out.verdict = grantReleased
	}
	return out
}

package fetch

import (
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
)

// pace says when a lane may make its next request. It has neither clock nor network.
//
// Invariant: after each request the host rests for the pause that its response time asks for, for the
// Crawl-delay of the origin that was asked, counted from that request even if it is learned later, and until
// the time that the host itself has named. Nothing that a lane knows of its host stays out of next.
type pace struct {
	politeness crawl.Politeness
	rest       time.Time     // not before: what the lane began with, Retry-After, back-off
	last       time.Time     // end of the last request; zero before the first
	usual      time.Duration // the pause after it by its response time
	origin     string        // that is asked
	delay      time.Duration // the Crawl-delay that holds for it, as far as is known
	shared     time.Time     // not before, at the address: what the lane began with, another of its hosts that was asked
	longest    time.Duration // of the Crawl-delays that are known of the host
	unknown    bool          // the origin that is asked has not said its Crawl-delay yet
}

// next is when the host may be asked again.
func (p *pace) next() time.Time {
	next := times.Latest(p.rest, p.shared)
	if p.last.IsZero() {
		return next
	}
	return times.Latest(next, p.last.Add(max(p.usual, p.delay)))
}

// address is when the address may be asked again, for others of its hosts: it rests for the pause that the response
// time asks for, and not for what one host wishes.
func (p *pace) address() time.Time {
	if p.last.IsZero() {
		return p.shared
	}
	return times.Latest(p.shared, p.last.Add(p.usual))
}

// share says that the address rests until a time, of whose hosts another was asked.
func (p *pace) share(until time.Time) { p.shared = times.Latest(p.shared, until) }

// asked notes the end of a request and how long it took.
func (p *pace) asked(now time.Time, response time.Duration) {
	wait := min(time.Duration(p.politeness.Factor*float64(response)), p.politeness.MaxDelay.D())
	p.last, p.usual = now, max(wait, p.politeness.MinDelay.D())
}

// unmet says that an origin is asked whose robots.txt is not known. Until it is, the longest delay holds that
// is known of the host: the origin may have asked for it in an earlier life of this process.
func (p *pace) unmet(origin string) {
	p.turn(origin)
	p.delay, p.unknown = max(p.delay, p.longest), true
}

// met takes over the Crawl-delay of an origin, which is the one asked last or is asked next.
func (p *pace) met(origin string, delay time.Duration) {
	p.turn(origin)
	p.delay = min(delay, p.politeness.MaxCrawlDelay.D())
	p.longest, p.unknown = max(p.longest, p.delay), false
}

// turn goes over to an origin; the one before keeps its pause.
func (p *pace) turn(origin string) {
	if origin != p.origin {
		p.rest, p.origin = p.next(), origin
	}
}

// putOff says that the host is not to be asked before a time.
func (p *pace) putOff(until time.Time) { p.rest = times.Latest(p.rest, until) }

// owed is the pause that is due after a request that begins or has ended now: what a lane that is cut off
// owes its host. Of a host that has not said its Crawl-delay it is the longest usual one.
func (p *pace) owed(now time.Time) time.Duration {
	owed := max(p.usual, p.delay, p.politeness.MinDelay.D(), p.next().Sub(now))
	if p.unknown {
		owed = max(owed, p.politeness.MaxDelay.D())
	}
	return owed
}

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
	politeness   crawl.Politeness // as it is now: a change counts for the pause that runs, too
	hostRest     time.Time        // not before: what the lane began with, Retry-After, back-off
	last         time.Time        // end of the last request; zero before the first
	response     time.Duration    // how long it took
	origin       string           // that is asked
	delay        time.Duration    // the Crawl-delay that holds for it, as far as is known
	addressRest  time.Time        // not before, at the address: what the lane began with, another of its hosts that was asked
	longest      time.Duration    // of the Crawl-delays that are known of the host
	delayUnknown bool             // the origin that is asked has not said its Crawl-delay yet
}

// next is when the host may be asked again.
func (p *pace) next() time.Time {
	next := times.Latest(p.hostRest, p.addressRest)
	if p.last.IsZero() {
		return next
	}
	return times.Latest(next, p.last.Add(max(p.responsePause(), p.delay)))
}

// address is when the address may be asked again, for others of its hosts: it rests for the pause that the response
// time asks for, and not for the Crawl-delay of one host.
func (p *pace) address() time.Time {
	if p.last.IsZero() {
		return p.addressRest
	}
	return times.Latest(p.addressRest, p.last.Add(p.responsePause()))
}

// restAddress notes that the address rests until a time, because another of its hosts was asked.
func (p *pace) restAddress(until time.Time) { p.addressRest = times.Latest(p.addressRest, until) }

// requestEnded notes the end of a request and how long it took.
func (p *pace) requestEnded(now time.Time, response time.Duration) {
	p.last, p.response = now, response
}

// responsePause is the pause after the last request by its response time.
func (p *pace) responsePause() time.Duration {
	wait := min(time.Duration(p.politeness.Factor*float64(p.response)), p.politeness.MaxDelay.D())
	return max(wait, p.politeness.MinDelay.D())
}

// originUnknown notes that the next request goes to an origin whose robots.txt is not known. Until it is, the longest Crawl-delay
// that is known of the host applies: the origin may have asked for it before this process was restarted.
func (p *pace) originUnknown(origin string) {
	p.switchOrigin(origin)
	p.delay, p.delayUnknown = max(p.delay, p.longest), true
}

// originKnown sets the Crawl-delay of the origin that was asked last or is asked next, of which at most so much is obeyed: its own
// limit, for another host of the lane may have another one.
func (p *pace) originKnown(origin string, delay, most time.Duration) {
	p.switchOrigin(origin)
	p.delay = min(delay, most)
	p.longest, p.delayUnknown = max(p.longest, p.delay), false
}

// switchOrigin makes an origin the current one; the pause of the previous one still applies.
func (p *pace) switchOrigin(origin string) {
	if origin != p.origin {
		p.hostRest, p.origin = p.next(), origin
	}
}

// putOff says that the host is not to be asked before a time.
func (p *pace) putOff(until time.Time) { p.hostRest = times.Latest(p.hostRest, until) }

// owed is the pause that is due after a request that begins or has ended now: how long the host rests if the lane is cut off. If its
// Crawl-delay is not known yet, the pause is MaxDelay at least.
func (p *pace) owed(now time.Time) time.Duration {
	owed := max(p.responsePause(), p.delay, p.next().Sub(now))
	if p.delayUnknown {
		owed = max(owed, p.politeness.MaxDelay.D())
	}
	return owed
}

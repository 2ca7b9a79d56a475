package frontier

import "time"

// claimsWithin is how long after a crawl wanted to claim it counts among those that share the lanes. Its rounds come more often. A crawl that
// is paused, and one that was terminated, which the frontier does not learn, want nothing.
const claimsWithin = 2 * time.Minute

// Weights returns the weight of the crawl, and the sum of the weights of all crawls of the worker that claim and have something to do, this
// one among them.
func (h Claims) Weights() (own, all int) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	own = 1
	for name, s := range h.f.crawls {
		weight := max(s.Definition.Politeness.Weight, 1)
		switch {
		case name == h.crawl:
			own = weight
		case s.Active && !s.asleep && h.f.opts.Now().Sub(s.wanted) < claimsWithin && (s.claims.Len() > 0 || s.waitingLive() > 0):
			all += weight
		}
	}
	return own, all + own
}

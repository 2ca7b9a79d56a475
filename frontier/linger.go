package frontier

import "time"

// lingering is until when a round waits for more. A round costs the same whatever is in it, and leases end one by one: a round
// for each would cost more than those of claims. So releases that nobody is known to wait for wait for claims to go with.
type lingering struct {
	some   time.Time // since when the round holds anything
	urgent time.Time // since when it holds more than releases that can wait
}

// until is when a round ends that holds this now; zero if it holds nothing.
func (l *lingering) until(w Want, r Round, now time.Time) time.Time {
	if r.empty() {
		return time.Time{}
	}
	if l.some.IsZero() {
		l.some = now
	}
	if l.urgent.IsZero() && (r.awaited || len(r.Releases) == 0 || len(r.Claims)+len(r.Renewals) > 0) {
		l.urgent = now
	}
	if r.last {
		return now
	}
	if !l.urgent.IsZero() {
		return l.urgent.Add(w.Linger)
	}
	return l.some.Add(max(w.Linger, w.Quiet))
}

// awaited reports whether the releases of a round cannot wait: a claim of this worker waits for a lease of one of their addresses,
// a host is to rest, which other workers learn from the release, or nothing of the crawl is in progress that could make more of it.
// Frontier.mu is held.
func (f *Frontier) awaited(s *state, releases []EndedLease, now time.Time) bool {
	if s.claims.Len() == 0 {
		return true
	}
	if len(releases) == 0 {
		return false
	}
	free := map[string]bool{}
	for _, r := range releases {
		if r.Host != "" && r.HostNext.After(now) {
			return true
		}
		free[r.IP] = true
	}
	if len(free) == 0 {
		return false
	}
	for _, other := range f.crawls {
		for c := range other.claims.All() {
			if free[c.IP] && c.Waits(now) {
				return true
			}
		}
	}
	return false
}

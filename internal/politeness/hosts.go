package politeness

import (
	"maps"
	"slices"
	"time"
)

// hostRest is when a host may be asked again that rests longer than its address, and by which lease that is known.
type hostRest struct {
	Next  time.Time `json:"next"`
	Lease string    `json:"lease"` // its ID in one text
}

// hostBytes is what the JSON form of a hostRest takes beside the strings in it, at most; minHosts is the number of hosts
// below which none are looked for that rest no longer.
const hostBytes, minHosts = 64, 64

func (h hostRest) size(host string) int { return hostBytes + len(host) + len(h.Lease) }

// restHost notes how long a host rests. The longest rest counts, but a lease may correct what it has said itself: while a
// slow answer is read it is not known yet. A host for which there is no room is forgotten; its own worker knows it.
func (p *pass) restHost(r Release) {
	s := p.s
	was, known := s.hosts[r.Host]
	next := ceilMillis(p.now.Add(min(r.HostRest, MaxPause)))
	if r.Host == "" || !known && r.HostRest <= 0 || known && was.Lease != r.ID().String() && !next.After(was.Next) {
		return
	}
	now := hostRest{next, r.ID().String()}
	if known {
		s.bytes -= was.size(r.Host)
		delete(s.hosts, r.Host)
	}
	s.forgetHosts(p.now)
	if next.After(p.now) && s.makeRoom(p.now, now.size(r.Host)) {
		s.hosts[r.Host] = now
		s.bytes += now.size(r.Host)
	}
}

// forgetHosts forgets hosts that rest no longer, once there are twice as many as the last time left.
func (s *State) forgetHosts(now time.Time) {
	if len(s.hosts) < 2*s.hostsLeft+minHosts {
		return
	}
	for _, host := range slices.Sorted(maps.Keys(s.hosts)) {
		if h := s.hosts[host]; !h.Next.After(now) {
			delete(s.hosts, host)
			s.bytes -= h.size(host)
		}
	}
	s.hostsLeft = len(s.hosts)
}

package politeness

import (
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// hostRest is when a host may be asked again that rests longer than its address, and by which lease that is known; and how it is
// slowed down.
type hostRest struct {
	Next  time.Time `json:"next,omitzero"`
	Lease string    `json:"lease,omitempty"` // its ID in one text
	Slow  SlowDown  `json:"slow,omitzero"`
	Short bool      `json:"short,omitempty"` // Next was at most HostWait ahead when it was known, or is the pause of a lane
	// Server is how the server rests of which the entry is, see serverName.
	Server ServerSlow `json:"server,omitzero"`
}

// What the JSON form of a hostRest takes beside the strings in it, at most, without a slow-down and for one of a host and of a server;
// minHosts is the number of hosts below which none are looked for that rest no longer; maxHostBytes bounds what hosts take of the
// state's MaxBytes: leases come first.
const hostBytes, slowBytes, serverBytes, minHosts, maxHostBytes = 80, 128, 128, 64, MaxBytes / 2

// hostBytesBefore is what earlier versions have counted in place of hostBytes, see CountServers.
const hostBytesBefore = 64

// sizeOfHost is what a host takes of the state's bytes.
func (s *State) sizeOfHost(host string, h hostRest) int {
	n := hostBytes + len(host) + len(h.Lease)
	if !s.Servers {
		n += hostBytesBefore - hostBytes
	}
	if h.Slow != (SlowDown{}) {
		n += slowBytes + len(h.Slow.Why)
	}
	if h.Server != (ServerSlow{}) {
		n += serverBytes + len(h.Server.Site) + len(h.Server.Why)
	}
	return n
}

// hostRoom is how many bytes hosts may take.
func (s *State) hostRoom() int {
	if !s.Servers {
		return MaxBytes
	}
	return maxHostBytes
}

// until is when a host may be asked again.
func (h hostRest) until() time.Time {
	if h.Slow.Until.After(h.Next) {
		return h.Slow.Until
	}
	return h.Next
}

// over reports whether nothing more is known of a host than of any other.
func (h hostRest) over(now time.Time) bool {
	return !h.Next.After(now) && h.Slow.forgiven(now) && h.Server.forgiven(now)
}

// after is what is known of a host after a release. The longest rest counts, but a lease may correct what it has said itself: while a
// slow answer is read it is not known yet.
func (h hostRest) after(r Release, now time.Time, last int64) hostRest {
	h.Slow = h.Slow.after(r, now, last)
	next, lease := ceilMillis(now.Add(min(r.HostRest, MaxPause))), r.ID().String()
	if lease == h.Lease || r.HostRest > 0 && next.After(h.Next) {
		h.Next, h.Lease, h.Short = next, lease, r.HostRest <= HostWait
	}
	return h
}

// restHost notes how long a host rests. Notices of hosts at other shards take half of the room of hosts at most: each shard has those of all
// the others. Of a host that is known, a notice for which that is too little leaves the rest alone, which takes no more room than what is known.
func (p *pass) restHost(r Release) {
	if r.Host == "" {
		return
	}
	was, known := p.s.hosts[r.Host]
	now, room := was.after(r, p.now, p.s.Last), p.s.hostRoom()
	if r.notice() && !known {
		room /= 2
	}
	if r.notice() && known && p.s.Notices {
		if more := p.s.sizeOfHost(r.Host, now) - p.s.sizeOfHost(r.Host, was); more > 0 && p.s.hostBytes+more > room/2 {
			until := now.until()
			now = was
			now.Next = times.Latest(now.Next, until)
		}
	}
	p.keepHost(r.Host, now, room)
	p.free(r.Host)
}

// keepHost notes what is known of a host, or a server, of all of which there may be so many bytes. One for which there is no room is forgotten; its own worker knows it.
func (p *pass) keepHost(host string, now hostRest, room int) {
	if now == p.s.hosts[host] {
		return
	}
	p.s.dropHost(host)
	p.s.forgetHosts(p.now)
	size := p.s.sizeOfHost(host, now)
	if !now.over(p.now) && p.s.hostBytes+size <= room && p.s.makeRoom(p.now, size) {
		p.s.addHost(host, now)
	}
}

func (s *State) addHost(host string, h hostRest) {
	s.hosts[host] = h
	s.bytes += s.sizeOfHost(host, h)
	s.hostBytes += s.sizeOfHost(host, h)
}

func (s *State) dropHost(host string) {
	if h, known := s.hosts[host]; known {
		delete(s.hosts, host)
		s.bytes -= s.sizeOfHost(host, h)
		s.hostBytes -= s.sizeOfHost(host, h)
	}
}

// forgetHosts forgets hosts of which nothing more is known than of others, once there are twice as many as the last time left.
func (s *State) forgetHosts(now time.Time) {
	if len(s.hosts) < 2*s.hostsLeft+minHosts {
		return
	}
	for _, host := range slices.Sorted(maps.Keys(s.hosts)) {
		if s.hosts[host].over(now) {
			s.dropHost(host)
		}
	}
	s.hostsLeft = len(s.hosts)
}

package webworld

import (
	"maps"
	"net/netip"
	"slices"
	"time"
)

// Stats is what the servers saw. URL counts leave robots.txt and its redirects out.
type Stats struct {
	Traffic    // of all IPs; peaks and gaps are the worst of any one IP
	PerIP      map[netip.Addr]Traffic
	Hosts      map[string]int           // requests begun, by host, robots.txt included
	HostGaps   map[string]time.Duration // shortest times between the beginnings of two requests, by host
	URLs       map[string]int           // complete responses, by URL
	Order      []string                 // their URLs, as the responses ended
	CutURLs    map[string]int           // responses cut by the client, by URL
	Disallowed map[string]int           // requests begun for what robots.txt forbids, by URL
	ByStatus   map[int]int              // complete responses, robots.txt included; 0 is what is no HTTP
	RobotsLate map[string]string        // host to the first URL asked of it before its robots.txt had been answered
	Strangers  map[string]int           // requests for a host that is not on that IP, by Host header
}

// Traffic is counted per IP.
type Traffic struct {
	Requests        int // begun, robots.txt included
	Robots          int // of these, for robots.txt
	Cut             int // of these, ended by the client before the response was fully written
	Connections     int // opened
	PeakConnections int // open at once
	PeakRequests    int // in progress at once
	MinGap          *Gap
	MinPageGap      *Gap // between pages, as if robots.txt had not been fetched
}

// Gap is the pause between the end of one response and the start of the next request on an IP; 0 if they
// overlapped. An IP has none before its second request.
type Gap struct {
	IP       netip.Addr
	Pause    time.Duration
	From, To string // URLs
}

// Requested is the number of distinct URLs with a complete response.
func (s Stats) Requested() int { return len(s.URLs) }

// Repeated are the URLs with more than one complete response, with their counts.
func (s Stats) Repeated() map[string]int {
	m := map[string]int{}
	for u, n := range s.URLs {
		if n > 1 {
			m[u] = n
		}
	}
	return m
}

// snapshot copies the counts.
func (rec *recorder) snapshot() Stats {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	s := Stats{
		PerIP: map[netip.Addr]Traffic{}, Hosts: maps.Clone(rec.hosts), HostGaps: maps.Clone(rec.hostGaps), URLs: maps.Clone(rec.urls),
		Order: slices.Clone(rec.order), CutURLs: maps.Clone(rec.cutURLs), Disallowed: maps.Clone(rec.disallowed),
		ByStatus: maps.Clone(rec.byStatus), RobotsLate: maps.Clone(rec.robotsLate),
		Strangers: maps.Clone(rec.strangers),
	}
	for ip, r := range rec.ips {
		s.PerIP[ip] = r.Traffic
		s.Traffic.join(r.Traffic)
	}
	return s
}

func (t *Traffic) join(o Traffic) {
	t.Requests += o.Requests
	t.Robots += o.Robots
	t.Cut += o.Cut
	t.Connections += o.Connections
	t.PeakConnections = max(t.PeakConnections, o.PeakConnections)
	t.PeakRequests = max(t.PeakRequests, o.PeakRequests)
	t.MinGap = shorter(t.MinGap, o.MinGap)
	t.MinPageGap = shorter(t.MinPageGap, o.MinPageGap)
}

// shorter prefers the shorter gap, and any gap to none.
func shorter(a, b *Gap) *Gap {
	if a == nil || b != nil && b.Pause < a.Pause {
		return b
	}
	return a
}

package webworld

import (
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Site is one host of the world.
type Site struct {
	Host       string // without the port
	IP         netip.Addr
	Kind       string        // blog, forum, wiki, news, offtopic, trap, forbidden, mirror, oddity, bench or fault
	Robots     string        // the text of robots.txt; empty if it has none
	RobotsCode int           // the status that robots.txt answers with; 0 if its answer is not valid HTTP
	CrawlDelay time.Duration // as robots.txt asks; 0 if it does not
}

// Planner assigns IPs, one to each site unless Share is set.
type Planner struct {
	Next  netip.Addr
	Sites []Site
}

// Add plans a host on an IP of its own.
func (p *Planner) Add(host, kind string) {
	p.Sites = append(p.Sites, Site{Host: host, Kind: kind, IP: p.Next, RobotsCode: http.StatusOK})
	p.Next = p.Next.Next()
}

// AddOn puts a host on the IP of an earlier one.
func (p *Planner) AddOn(other, host, kind string) {
	i := slices.IndexFunc(p.Sites, func(s Site) bool { return s.Host == other })
	p.Sites = append(p.Sites, Site{Host: host, Kind: kind, IP: p.Sites[i].IP, RobotsCode: http.StatusOK})
}

func addresses(plan []Site) []netip.Addr {
	var ips []netip.Addr
	for _, s := range plan {
		ips = append(ips, s.IP)
	}
	slices.SortFunc(ips, netip.Addr.Compare)
	return slices.Compact(ips)
}

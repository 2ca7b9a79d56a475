package webworld

import (
	"net/netip"
	"strings"
	"testing"
)

func TestLent(t *testing.T) {
	t.Parallel()
	w := started(t, NewLent(Options{FirstIP: netip.MustParseAddr("127.78.16.1")}, 6, 0))
	c := client(w)
	where := w.Resolve()
	if where[LenderHost] == where[BorrowerHost] {
		t.Errorf("both sites are at %v", where[LenderHost])
	}
	a := get(t, c, w.sites[BorrowerHost].base+"/robots.txt")
	if to := a.header.Get("Location"); a.status != 301 || to != w.sites[LenderHost].base+"/robots.txt" {
		t.Errorf("the borrower's robots.txt: status %d, location %q", a.status, to)
	}
	if rules := get(t, c, a.header.Get("Location")); rules.status != 200 || !strings.Contains(string(rules.body), "Disallow: /private/\n") {
		t.Errorf("the lender's robots.txt: status %d: %s", rules.status, rules.body)
	}
	open, closed := map[string]int{}, map[string]int{}
	for _, p := range w.Pages() {
		if p.Allowed == strings.Contains(p.URL, "/private/") {
			t.Errorf("%s: allowed %v", p.URL, p.Allowed)
		}
		if p.Allowed {
			open[p.Host]++
		} else {
			closed[p.Host]++
		}
		if answer := get(t, c, p.URL); answer.status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, answer.status, p.Status)
		}
	}
	for _, host := range []string{LenderHost, BorrowerHost} {
		if open[host] != 6 || closed[host] != 3 {
			t.Errorf("%s has %d open and %d closed pages", host, open[host], closed[host])
		}
	}
	s := w.Stats()
	if len(s.Disallowed) != 6 || len(s.RobotsLate) != 0 || s.Robots != 2 {
		t.Errorf("disallowed %v, late %v, %d of robots.txt", s.Disallowed, s.RobotsLate, s.Robots)
	}
}

package manners

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

func TestBorrowedRules(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, NewBorrowed(webworld.Options{FirstIP: netip.MustParseAddr("127.78.16.1")}, 6, 0))
	c := worldtest.Client(w)
	where := w.Resolve()
	if where[LenderHost] == where[BorrowerHost] {
		t.Errorf("both sites are at %v", where[LenderHost])
	}
	a := worldtest.Get(t, c, w.Host(BorrowerHost).Base+"/robots.txt")
	if to := a.Header.Get("Location"); a.Status != 301 || to != w.Host(LenderHost).Base+"/robots.txt" {
		t.Errorf("the borrower's robots.txt: status %d, location %q", a.Status, to)
	}
	if rules := worldtest.Get(t, c, a.Header.Get("Location")); rules.Status != 200 || !strings.Contains(string(rules.Body), "Disallow: /private/\n") {
		t.Errorf("the lender's robots.txt: status %d: %s", rules.Status, rules.Body)
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
		if answer := worldtest.Get(t, c, p.URL); answer.Status != p.Status {
			t.Errorf("%s: status %d, promised %d", p.URL, answer.Status, p.Status)
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

package frontier

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// bounce crawls a web on which every URL redirects to a new one, with at most limit requests, and returns the last round. links gives
// the links of an answer in addition to its redirect.
func (r *rig) bounce(limit int, links func(t crawl.Target) []crawl.Discovery) (Round, int) {
	r.t.Helper()
	requests := 0
	for requests < limit {
		round := r.next()
		r.confirm(round)
		if round.Drained || round.Spent != "" {
			return round, requests
		}
		if len(round.Claims) == 0 {
			continue
		}
		batch := r.start(round.Claims...)
		lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
		r.must(err)
		c := Commit{Batch: batch}
		for _, l := range lanes {
			for _, t := range l.Targets {
				requests++
				c.Outcomes = append(c.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: 302, Bytes: 300}, Score: -1})
				c.Discoveries = append(c.Discoveries, links(t)...)
			}
			r.must(r.endLane(l.ID, r.clock.Now(), false))
		}
		r.must(r.Commit(c))
	}
	return Round{}, requests
}

// fresh is a URL of a host that has never been named.
func fresh(host string, n *int, path string, hop crawl.Hop) crawl.Discovery {
	*n++
	return crawl.Discovery{URL: fmt.Sprintf("http://%s/%d", host, *n), Path: crawl.Hopped(path, hop), Score: 0.5}
}

// TestRedirectsEnd: an endless chain is followed for 20 redirects, and the crawl ends.
func TestRedirectsEnd(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Scope.MaxHops, d.Budget.Pages = 1, 5 })
	r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
	n := 0
	round, requests := r.bounce(500, func(t crawl.Target) []crawl.Discovery {
		return []crawl.Discovery{fresh("a.example", &n, t.Path, crawl.HopRedirect)}
	})
	if !round.Drained || requests != 21 {
		t.Errorf("%d requests, %+v", requests, round)
	}
	if e := r.why("http://a.example/20"); e.Redirects != 20 || e.MaxRedirects != 20 {
		t.Errorf("explained as %+v", e)
	}
	if got := r.states()["http://a.example/21"]; got != "" {
		t.Errorf("the 21st redirect is %s", got)
	}
}

// TestRequestBudget: requests that bring no page count, too, and end the run.
func TestRequestBudget(t *testing.T) {
	for _, reopened := range []bool{false, true} {
		r := newRig(t, func(d *crawl.Definition) { d.Budget.Requests, d.Order.PerQueue = 300, 7 })
		r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
		n := 0
		grow := func(t crawl.Target) []crawl.Discovery { // links and redirects without end
			return []crawl.Discovery{fresh("a.example", &n, "S", crawl.HopLink), fresh("b.example", &n, "S", crawl.HopRedirect)}
		}
		asked := 0
		if reopened {
			_, asked = r.bounce(100, grow)
			r.reopen()
		}
		round, more := r.bounce(1000, grow)
		if round.Spent != "requests" || asked+more != 300 || r.status().Totals.Requests != 300 || r.status().Totals.Pages != 0 {
			t.Errorf("%d requests, %+v, %+v", asked+more, round, r.status().Totals)
		}
	}
}

// TestRequestsPerPLD: with a budget of pages for each PLD, a PLD with nothing but redirects ends as well.
func TestRequestsPerPLD(t *testing.T) {
	for _, reopened := range []bool{false, true} {
		r := newRig(t, func(d *crawl.Definition) { d.Budget.PerPLD, d.Order.PerQueue = 2, 7 })
		r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
		n := 0
		grow := func(t crawl.Target) []crawl.Discovery {
			return []crawl.Discovery{fresh("a.example", &n, "S", crawl.HopLink), fresh("a.example", &n, "S", crawl.HopLink)}
		}
		asked := 0
		if reopened {
			_, asked = r.bounce(50, grow)
			r.reopen()
		}
		round, more := r.bounce(1000, grow)
		if !round.Drained || asked+more != 120 { // 10 * 2 + 100
			t.Errorf("%d requests, %+v", asked+more, round)
		}
		if e := r.why("http://a.example/"); !e.Spent {
			t.Errorf("explained as %+v", e)
		}
	}
}

func TestMaxRequests(t *testing.T) {
	for b, want := range map[crawl.Budget][2]int64{
		{Pages: 5}: {1050, 0}, {Pages: 10_000, PerPLD: 30}: {101_000, 400}, {Pages: 5, Requests: 7}: {7, 0},
		{Pages: 1 << 62, PerPLD: 1 << 62}: {10*((1<<63-1)/20) + 1000, 10*((1<<63-1)/20) + 100},
	} {
		if got := [2]int64{b.MaxRequests(), b.MaxRequestsPerPLD()}; got != want {
			t.Errorf("%+v: %v, want %v", b, got, want)
		}
	}
}

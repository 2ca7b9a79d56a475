package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func TestUnresolvableHost(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(1, "http://a.example/1", "http://a.example/2")...)
	r.hosts.Store("a.example", errNoHost)
	for n := 1; n <= 2; n++ { // MaxFail is 3
		if got := r.next(); len(got.Claims) != 0 || got.Drained {
			t.Fatalf("%+v", got)
		}
		r.reopen()
		s := r.status()
		if s.Waiting != 2 || len(s.Slow) != 1 || s.Slow[0].Fails != n || !s.Slow[0].Next.Equal(r.clock.Now().Add(time.Duration(n)*time.Minute)) {
			t.Fatalf("after %d failures %+v", n, s)
		}
		if got := r.next(); len(got.Claims) != 0 || r.status().Slow[0].Fails != n {
			t.Fatalf("asked again too early: %+v", got)
		}
		r.clock.pass(time.Duration(n) * time.Minute)
	}
	r.next()
	if got := r.next(); !got.Drained {
		t.Fatalf("%+v", got)
	}
	if s := r.status(); s.Totals.Errors != 2 || s.Waiting != 0 || s.Totals.Pages != 0 {
		t.Fatalf("%+v", s)
	}
	if got := r.states(); got["http://a.example/1"] != "failed" || got["http://a.example/2"] != "failed" {
		t.Fatalf("%v", got)
	}
}

func TestHostComesBack(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(1, "http://a.example/")...)
	r.hosts.Store("a.example", errNoHost)
	r.next()
	r.hosts.Delete("a.example")
	r.clock.pass(time.Minute)
	c := r.one()
	r.start(c)
	r.must(r.endLane(c.ID, r.clock.Now(), false))
	if s := r.status(); len(s.Slow) != 0 {
		t.Fatalf("the failures are not forgotten: %+v", s)
	}
}

func TestRefusedHost(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(1, "http://a.example/1", "http://a.example/2")...)
	r.hosts.Store("a.example", fmt.Errorf("look up: %w", errRefused))
	r.next()
	if got := r.next(); !got.Drained {
		t.Fatalf("%+v", got)
	}
	if s := r.status(); s.Totals.Refused != 2 || s.Totals.Errors != 0 {
		t.Fatalf("%+v", s)
	}
}

// The failures of a host do not count for other hosts of its PLD.
func TestRefusedBesideUnresolvable(t *testing.T) {
	for _, swap := range []bool{false, true} {
		r := newRig(t, nil)
		list := found(1, "http://inner.ravens.org/", "http://down.ravens.org/")
		if swap {
			slices.Reverse(list)
		}
		r.submit("s", list...)
		r.hosts.Store("inner.ravens.org", errRefused)
		r.hosts.Store("down.ravens.org", errNoHost)
		r.next()
		if got := r.states(); got["http://inner.ravens.org/"] != "refused" || got["http://down.ravens.org/"] != "waiting" {
			t.Fatalf("%v", got)
		}
		r.hosts.Delete("down.ravens.org")
		r.clock.pass(time.Minute)
		if c := r.one(); len(c.URLs) != 1 {
			t.Fatalf("%+v", c)
		}
	}
}

// A claim is of one address: it takes the hosts of the first URL's, and leaves the others.
func TestClaimIsOfOneAddress(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", slices.Concat(found(0.9, "http://x.ravens.org/1"), found(0.8, "http://y.ravens.org/1"), found(0.7, "http://x.ravens.org/2"),
		found(0.6, "http://down.ravens.org/"), found(0.5, "http://z.ravens.org/1"))...)
	r.hosts.Store("y.ravens.org", "192.0.2.99")
	r.hosts.Store("down.ravens.org", errNoHost)
	var got [][]string
	for range 2 {
		batch, lanes := r.take()
		got = append(got, targets(lanes...))
		r.finish(batch, lanes)
	}
	want := "[[http://x.ravens.org/1 http://x.ravens.org/2 http://z.ravens.org/1] [http://y.ravens.org/1]]"
	if fmt.Sprint(got) != want {
		t.Fatalf("%v", got)
	}
	if s := r.states(); s["http://down.ravens.org/"] != "waiting" {
		t.Fatalf("%v", s)
	}
}

func TestOutcomes(t *testing.T) {
	r := oneQueue(t, 7, func(d *crawl.Definition) { d.Topic.Threshold = 0.4 })
	batch, _ := r.take()
	u := func(i int) string { return fmt.Sprintf("http://a.example/%d", i) }
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{
		{Outcome: crawl.Outcome{URL: u(0), Kind: crawl.OutcomeDone, Status: 200, Bytes: 10}, Score: 0.4},
		{Outcome: crawl.Outcome{URL: u(1), Kind: crawl.OutcomeDone, Status: 500, Bytes: 10}, Score: -1},
		{Outcome: crawl.Outcome{URL: u(2), Kind: crawl.OutcomeUnmodified, Status: 304}, Score: 0.3, Revisit: true},
		{Outcome: crawl.Outcome{URL: u(3), Kind: crawl.OutcomeRobots}, Score: -1},
		{Outcome: crawl.Outcome{URL: u(4), Kind: crawl.OutcomeRefused}, Score: -1},
		{Outcome: crawl.Outcome{URL: u(5), Kind: crawl.OutcomeFailed}, Score: -1},
		{Outcome: crawl.Outcome{URL: u(6), Kind: crawl.OutcomeReturned}, Score: -1},
		{Outcome: crawl.Outcome{URL: u(0), Kind: crawl.OutcomeDone, Status: 200}, Score: 0.9}, // once is enough
		{Outcome: crawl.Outcome{URL: "http://never.example/", Kind: crawl.OutcomeDone, Status: 200}, Score: 0.9},
	}}))
	want := Totals{Pages: 2, Scored: 2, Relevant: 1, Bytes: 20, Errors: 2, Robots: 1, Refused: 1, Revisits: 1, Links: 7, Known: 7, Batches: 1, Requests: 3, New: 1, Unchanged: 1}
	r.reopen()
	s := r.status()
	if s.Totals != want || s.Waiting != 1 || len(s.Top) != 2 || s.Top[0].URL != u(0) {
		t.Errorf("%+v\nnot %+v", s, want)
	}
	states := r.states()
	for i, state := range []string{"done", "done", "done", "refused", "refused", "failed", "waiting"} {
		if states[u(i)] != state {
			t.Errorf("%d is %s, not %s", i, states[u(i)], state)
		}
	}
}

func TestScope(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Scope.Within, d.Seeds = crawl.WithinPLD, []crawl.Seed{{URL: "http://a.example/"}, {URL: "http://www.ravens.org/"}}
	})
	r.submit("s", append(found(1, "http://sub.ravens.org/", "http://b.example/", "ftp://a.example/", "not a URL", "http://A.example:80/#f", "http://a.example"),
		crawl.Discovery{URL: "http://seed.example/", Path: "S"}, crawl.Discovery{URL: "http://b.example/p.png", Path: "SE"})...)
	got := r.states()
	if len(got) != 4 || got["http://sub.ravens.org/"] == "" || got["http://a.example/"] == "" || got["http://seed.example/"] == "" || got["http://b.example/p.png"] == "" {
		t.Fatalf("%v", got)
	}
}

// TestScopeOfOtherSeeds: the workflow that takes a run over may have other seeds, such as those of a file.
func TestScopeOfOtherSeeds(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Scope.Within, d.Seeds = crawl.WithinHost, []crawl.Seed{{File: "seeds.txt"}}
	})
	_, err := r.Begin(testCrawl, "other", 0, definition(func(d *crawl.Definition) { d.Scope.Within = crawl.WithinHost }), []string{"http://b.example/"}, true)
	r.must(err)
	r.reopen()
	r.submit("s", found(1, "http://b.example/", "http://c.example/")...)
	if got := r.states(); len(got) != 1 || got["http://b.example/"] != "waiting" {
		t.Fatalf("%v", got)
	}
}

// The bound on hops also holds for paths that are longer than the letters that a path keeps.
func TestHopsBeyondThePath(t *testing.T) {
	const most = 55
	r := newRig(t, func(d *crawl.Definition) { d.Scope.MaxHops = most })
	path := "S" + strings.Repeat("L", 45)
	for n := 46; n <= most+1; n++ {
		page := fmt.Sprintf("http://a.example/%d", n)
		r.submit(page, crawl.Discovery{URL: page, Path: path + "L", Score: 1}, crawl.Discovery{URL: page + ".png", Path: path + "E", Score: 0.5})
		batch, lanes := r.take()
		if n > most {
			if got := targets(lanes...); !slices.Equal(got, []string{page + ".png"}) {
				t.Fatalf("after %d hops %q", n, got)
			}
			break
		}
		if got := targets(lanes...); !slices.Equal(got, []string{page + ".png", page}) {
			t.Fatalf("after %d hops %q", n, got)
		}
		path = lanes[0].Targets[1].Path
		r.finish(batch, lanes)
	}
	if want := "5+" + strings.Repeat("L", 50); path != want {
		t.Fatalf("the path is %s, not %s", path, want)
	}
}

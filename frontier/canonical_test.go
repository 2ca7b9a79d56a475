package frontier

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestCanonical: of the URLs with one canonical form the first is asked for, as it is written; the others are links to it, in the same transaction, in later ones and
// in later runs.
func TestCanonical(t *testing.T) {
	average := func(d *crawl.Definition) { d.Order.Update = crawl.UpdateAvg } // each link counts
	r := newRig(t, average)
	link := func(url string) crawl.Discovery { return crawl.Discovery{URL: url, Path: "SL", Score: 0.5} }
	known := func() (list []string) {
		r.must(r.URLs().Known(func(url, _ string) error {
			list = append(list, url)
			return nil
		}))
		slices.Sort(list)
		return list
	}
	want := []string{"http://a.example/", "http://b.example/?utm_source=1&x=1", "http://c.example/d?fbclid=1", "http://e.example/;jsessionid=A"}
	check := func(when string, links map[string]uint32) {
		t.Helper()
		if got := known(); !slices.Equal(got, want) {
			t.Errorf("%s: known are %q", when, got)
		}
		for url, n := range links {
			if e := r.why(url); e.Links != n || e.State != URLWaiting || e.Waiting != 1 {
				t.Errorf("%s: %s is %s with %d links, %d URLs wait in its queue", when, url, e.State, e.Links, e.Waiting)
			}
		}
	}
	r.submit("one", link("http://a.example/"),
		link("http://b.example/?utm_source=1&x=1"), link("http://b.example/?x=1"), link("http://b.example/?utm_source=2&x=1"),
		link("http://c.example/d?fbclid=1"), link("http://c.example/d"),
		link("http://e.example/;jsessionid=A"), link("http://e.example/;jsessionid=B"), link("http://e.example/"))
	check("at once", map[string]uint32{"http://b.example/?utm_source=1&x=1": 3, "http://c.example/d?fbclid=1": 2, "http://e.example/;jsessionid=A": 3})
	r.reopen()
	r.submit("two", link("http://b.example/?x=1&gclid=3"), link("http://b.example/?utm_source=1&x=1"), link("http://c.example/d"), link("http://e.example/?"))
	check("later", map[string]uint32{"http://b.example/?utm_source=1&x=1": 5, "http://c.example/d?fbclid=1": 3})
	if e := r.why("http://b.example/?x=1&utm_medium=never"); e.SameAs != "http://b.example/?utm_source=1&x=1" || e.Links != 5 {
		t.Errorf("explained as %+v", e)
	}
	for round := r.next(); len(round.Claims) > 0; round = r.next() {
		r.confirm(round)
		batch := r.start(round.Claims...)
		lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
		r.must(err)
		c := Commit{Batch: batch}
		for _, l := range lanes {
			for _, at := range l.Targets {
				c.Outcomes = append(c.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: at.URL, Kind: crawl.OutcomeDone, Status: 200, Visit: crawl.Visit{Digest: "sha1:a"}}})
			}
			r.must(r.endLane(l.ID, r.clock.Now(), false))
		}
		r.must(r.Commit(c))
	}
	r.submit("three", link("http://b.example/?x=1"), link("http://b.example/?utm_source=9&x=1"))
	if e := r.why("http://b.example/?x=1"); e.State != URLDone {
		t.Errorf("what is done is %s", e.State)
	}
	r.must(r.End("owner"))
	r.must(r.begin("second", average))
	r.submit("four", link("http://b.example/?x=1"))
	r.must(r.URLs().Recrawl("again"))
	check("in the next run", map[string]uint32{"http://c.example/d?fbclid=1": 1, "http://b.example/?utm_source=1&x=1": 1})
}

// TestCanonicalEarlier: a crawl of an earlier version, whose definition has no parameters to drop, knows each URL by itself, and what it knows stays known.
func TestCanonicalEarlier(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Canonical = crawl.Canonical{} })
	link := func(url string) crawl.Discovery { return crawl.Discovery{URL: url, Path: "SL", Score: 0.5} }
	r.submit("one", link("http://b.example/?fbclid=1"), link("http://b.example/"), link("http://b.example/?fbclid=2"))
	if e := r.why("http://b.example/"); e.Waiting != 3 {
		t.Errorf("%d URLs wait", e.Waiting)
	}
	r.must(r.End("owner"))
	r.must(r.begin("second", nil))
	r.submit("two", link("http://b.example/?fbclid=1"), link("http://b.example/?fbclid=2"), link("http://b.example/?fbclid=3"))
	if e := r.why("http://b.example/?fbclid=2"); e.Waiting != 3 || e.SameAs != "" || e.State != URLWaiting {
		t.Errorf("%+v", e)
	}
	u, err := urls.Parse("http://b.example/?fbclid=3")
	r.must(err)
	if e, err := r.URLs().Explain(u); err != nil || e.SameAs != "http://b.example/" {
		t.Errorf("a new one: %+v, %v", e, err)
	}
}

package frontier

import (
	"slices"
	"strings"
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

// TestCanonicalSessions: what an earlier version has stored, which took sessions off URLs before they were asked for, is the page of the URLs that name one. A new page is
// asked for with the session of the first link to it, and a definition can take all of them for pages.
func TestCanonicalSessions(t *testing.T) {
	const one, two = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	link := func(url string) crawl.Discovery { return crawl.Discovery{URL: url, Path: "SL", Score: 0.5} }
	for name, c := range map[string]crawl.Canonical{"an earlier definition": {}, "another list": {Parameters: []string{"x"}}, "the default": crawl.DefaultCanonical()} {
		r := newRig(t, func(d *crawl.Definition) { d.Canonical, d.Order.Update = c, crawl.UpdateAvg })
		r.submit("earlier", link("http://f.example/t.php?t=1"), link("http://f.example/files"))
		r.reopen()
		r.submit("now", link("http://f.example/t.php?sid="+one+"&t=1"), link("http://f.example/files?s="+one), link("http://f.example/files?s="+two),
			link("http://g.example/?PHPSESSID="+one), link("http://g.example/?PHPSESSID="+two), link("http://g.example/"))
		for url, want := range map[string]string{
			"http://f.example/t.php?t=1&sid=" + two: "http://f.example/t.php?t=1", "http://f.example/files?s=" + two: "http://f.example/files", "http://g.example/": "http://g.example/?PHPSESSID=" + one,
		} {
			if e := r.why(url); e.State != URLWaiting || e.SameAs != want {
				t.Errorf("%s: %s is %s, the same as %q, want %q", name, url, e.State, e.SameAs, want)
			}
		}
		if f, g := r.why("http://f.example/files"), r.why("http://g.example/"); f.Waiting != 2 || f.Links != 3 || g.Waiting != 1 || g.Links != 3 {
			t.Errorf("%s: %d and %d URLs wait, linked %d and %d times", name, f.Waiting, g.Waiting, f.Links, g.Links)
		}
	}
	r := newRig(t, func(d *crawl.Definition) { d.Canonical.SessionParameters = []string{} })
	r.submit("now", link("http://f.example/files?s="+one), link("http://f.example/files?s="+two), link("http://f.example/files"))
	r.reopen()
	r.submit("later", link("http://f.example/files?s="+one[1:]+"0"))
	if e := r.why("http://f.example/files"); e.Waiting != 4 {
		t.Errorf("%d of 4 files wait", e.Waiting)
	}
}

// TestFateOfAForm: of a URL that is another form of one that is asked for, the fate is that of the latter.
func TestFateOfAForm(t *testing.T) {
	r := newRig(t, nil)
	first, other := "http://a.example/x.png?sid="+strings.Repeat("a1", 16), "http://a.example/x.png?sid="+strings.Repeat("b2", 16)
	r.submit("s", found(1, first)...)
	for url, want := range map[string]Fate{first: FateQueued, other: FateQueued, "http://a.example/y.png": FateUnknown} {
		if got, err := r.URLs().Fate(url); err != nil || got != want {
			t.Errorf("%s: %d, want %d, %v", url, got, want, err)
		}
	}
}

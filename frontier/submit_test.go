package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

func submission(url, path string, score float64) Submission {
	return Submission{Discovery: crawl.Discovery{URL: url, Path: path, Score: score}}
}

// A list is answered URL by URL: a URL that is refused does not affect the others.
func TestSubmittedURLsAreAnswered(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Scope.Within, d.Scope.Blacklist, d.Scope.Exclude = crawl.WithinHost, []string{"spam.example"}, []string{"*private*"}
	})
	r.submit("s", found(1, "http://a.example/")...)
	batch, lanes := r.take()
	r.finish(batch, lanes)
	list := []Submission{
		submission("http://a.example/new", "", 0.5),
		submission("http://a.example/", "", 0.5),
		submission("HTTP://A.example:80/new#top", "", 0.9),
		submission("http://other.example/", "", 0.5),
		submission("http://other.example/", "S", 0.5),
		submission("http://www.spam.example/", "S", 0.5),
		submission("http://a.example/private", "", 0.5),
		submission("ftp://a.example/", "", 0.5),
		submission("no URL", "", 0.5),
		submission("http://a.example/last", "", 0.5),
		submission("http://joe:hush@a.example/", "S", 0.5),
		submission("http://a.example:22/", "S", 0.5),
	}
	list[5].URL = "http://spam.example/"
	want := []string{SubmitAccepted, SubmitKnown, SubmitKnown, SubmitOutOfScope, SubmitAccepted, SubmitBlacklisted, SubmitOutOfScope, SubmitMalformed, SubmitMalformed, SubmitAccepted, SubmitMalformed, SubmitRefused}
	answers := func(id string) (got []string) {
		list, err := r.URLs().Submit(id, list)
		r.must(err)
		for _, a := range list {
			got = append(got, a.Answer)
			if a.Answer != SubmitAccepted && a.Reason == "" {
				t.Errorf("%+v has no reason", a)
			}
			if strings.Contains(a.URL+a.Reason, "hush") {
				t.Errorf("%+v repeats the password", a)
			}
		}
		return got
	}
	if got := answers("first"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	r.reopen()
	if got := answers("first"); !slices.Equal(got, want) {
		t.Errorf("tried again: %q", got)
	}
	if s := r.status(); s.Waiting != 3 || s.Totals.Known != 4 {
		t.Errorf("%+v", s)
	}
	if got := answers("second"); slices.Contains(got, SubmitAccepted) {
		t.Errorf("submitted again: %q", got)
	}
	if left, err := r.Left(); err != nil || !left {
		t.Errorf("%v, %v", left, err)
	}
}

// A URL that is submitted as blacklisted is never fetched, in this and later runs, even if it waits or is claimed.
func TestSubmittedBlacklist(t *testing.T) {
	r := oneQueue(t, 3, func(d *crawl.Definition) { d.Order.PerQueue = 2 })
	claim := r.one()
	ban := func(urls ...string) {
		t.Helper()
		var list []Submission
		for _, u := range urls {
			s := submission(u, "", 0)
			s.Blacklisted = true
			list = append(list, s)
		}
		got, err := r.URLs().Submit(strings.Join(urls, ","), list)
		r.must(err)
		for _, a := range got {
			if a.Answer != SubmitBlacklisted {
				t.Errorf("%+v", a)
			}
		}
	}
	ban("http://a.example/0", "http://a.example/2", "http://new.example/")
	batch := r.start(claim)
	lanes, err := r.Batch(batch).Reopen([]Claim{claim}, nil)
	r.must(err)
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/1"}) {
		t.Errorf("fetches %q", got)
	}
	all := found(1, "http://a.example/0", "http://a.example/2", "http://new.example/")
	r.finish(batch, lanes, all...)
	r.submit("links", all...)
	if s := r.status(); s.Waiting != 0 || s.Totals.Pages != 1 {
		t.Errorf("%+v", s)
	}
	r.confirm(r.next())
	r.must(r.End("owner"))
	r.must(r.begin("next", nil))
	r.reopen()
	r.submit("again", all...)
	r.must(r.URLs().Recrawl("recrawl"))
	if got := r.states(); got["http://a.example/0"] != "blacklisted" || got["http://new.example/"] != "blacklisted" || got["http://a.example/1"] != "waiting" {
		t.Errorf("%v", got)
	}
	if got, err := r.URLs().Submit("plain", []Submission{submission("http://new.example/", "S", 1)}); err != nil || got[0].Answer != SubmitBlacklisted || got[0].Reason == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestResubmitOfAnEarlierRun: what was submitted to a run that has ended, and is in no checkpoint, waits for the next one in a partition that is made again, as it waited before; what is
// known is left as it is. A URL that was closed as a trap is taken in again if it was submitted to the present run.
func TestResubmitOfAnEarlierRun(t *testing.T) {
	r, _ := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/known")...)
	r.must(r.End("owner"))
	_, err := r.Begin(testCrawl, "next", 2, definition(func(d *crawl.Definition) { d.Spread = true }), nil, false)
	r.must(err)
	every := func(Partition) bool { return true }
	of := func(url string, banned bool) []Submission {
		return []Submission{{Discovery: crawl.Discovery{URL: url, Score: 0.5}, Blacklisted: banned}}
	}
	for range 2 {
		r.must(r.URLs().Resubmit(1, of("http://a.example/known", false), every))
		r.must(r.URLs().Resubmit(1, of("http://a.example/early", false), every))
		r.must(r.URLs().Resubmit(1, of("http://a.example/banned", true), every))
		r.must(r.URLs().Resubmit(2, of("http://a.example/present", false), every))
	}
	for url, want := range map[string]string{"known": "waiting 1 1", "early": "waiting 1 1", "banned": "blacklisted 1 0", "present": "waiting 2 1"} {
		u, err := urls.Parse("http://a.example/" + url)
		r.must(err)
		e, err := r.URLs().Explain(u)
		r.must(err)
		if got := fmt.Sprintf("%s %d %d", e.State, e.Run, e.Links); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

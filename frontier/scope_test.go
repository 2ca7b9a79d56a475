package frontier

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestScopeRules: of several links to a URL in one batch each is judged for itself, and the first that the rules accept brings it in; how far the crawl is off
// the seeds' sites goes with the hop path.
func TestScopeRules(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Scope.Within, d.Scope.Rules = "", []crawl.Rule{
			{Accept: &crawl.Conditions{Host: crawl.Texts{"lang.example"}, ViaLanguage: crawl.Texts{"is"}}},
			{Accept: &crawl.Conditions{Host: crawl.Texts{"score.example"}, Score: crawl.Ranges{"at least 0.5"}}},
			{Accept: &crawl.Conditions{HopsOffSite: crawl.Ranges{"at most 2"}, Not: &crawl.Conditions{Host: crawl.Texts{"lang.example", "score.example"}}}},
		}
	})
	link := func(url, path string) crawl.Discovery {
		return crawl.Discovery{URL: url, Via: "http://a.example/", Path: path, Score: 0.4}
	}
	better, other := link("http://score.example/", "SL"), link("http://lang.example/", "SL")
	better.Score, other.Language = 0.6, "is"
	r.must(r.Commit(Commit{Batch: "b", Discoveries: []crawl.Discovery{
		link("http://lang.example/", "SL"), link("http://score.example/", "SL"), other, better,
		link("http://score.example/low", "SL"), link("http://lang.example/en", "SL"),
		link("http://one.example/", "SL"), link("http://two.example/", "1@SLL"), link("http://three.example/", "2@SLLL"), link("http://a.example/back", "2@SLLL"),
		link("http://three.example/a.png", "2@SLLLE"), // not a link: no hop more
	}}))
	for url, path := range map[string]string{
		"http://lang.example/": "1@SL", "http://score.example/": "1@SL", "http://score.example/low": "", "http://lang.example/en": "",
		"http://one.example/": "1@SL", "http://two.example/": "2@SLL", "http://three.example/": "", "http://a.example/back": "SLLL",
		"http://three.example/a.png": "2@SLLLE",
	} {
		switch e := r.why(url); {
		case path == "" && e.State != URLUnknown, path != "" && e.State != URLWaiting:
			t.Errorf("%s is %s", url, e.State)
		case e.Path != path:
			t.Errorf("%s has the path %s, not %s", url, e.Path, path)
		}
	}
}

// TestScopeRulesAgain: a later run asks again for what rules accept by hops off the seeds' sites, by the path that is kept.
func TestScopeRulesAgain(t *testing.T) {
	rules := func(d *crawl.Definition) {
		d.Scope.Within, d.Scope.Rules = "", []crawl.Rule{{Accept: &crawl.Conditions{HopsOffSite: crawl.Ranges{"at most 1"}}}}
	}
	r := newRig(t, rules)
	const url = "http://one.example/"
	r.submit("found", crawl.Discovery{URL: url, Path: "SL", Score: 0.5})
	if e := r.why(url); e.Path != "1@SL" || e.State != URLWaiting {
		t.Fatalf("%+v", e)
	}
	round := r.next()
	r.confirm(round)
	batch := r.start(round.Claims...)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200, Visit: crawl.Visit{Digest: "sha1:a"}}}}}))
	r.must(r.End("owner"))
	r.must(r.begin("second", rules))
	r.must(r.URLs().Recrawl("again"))
	if e := r.why(url); e.Path != "1@SL" || e.State != URLWaiting {
		t.Errorf("in the next run: %+v", e)
	}
}

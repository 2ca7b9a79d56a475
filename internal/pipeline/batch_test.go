package pipeline

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// rig is an engine over a frontier with a crawl, c, about ravens.
type rig struct {
	*Engine
	t    *testing.T
	read int // how often the exchanges were read
}

func newRig(t *testing.T, edit func(*crawl.Definition)) *rig {
	t.Helper()
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true})
	r := &rig{New(front, nil, score.NewDictionary(), page.DefaultLimits(), time.Now), t, 0}
	r.must(err)
	t.Cleanup(func() { _ = front.Close() })
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Topic.Keywords = "c", []crawl.Seed{{URL: "http://a.test/"}}, []string{"raven"}
	if edit != nil {
		edit(&d)
	}
	_, _, err = r.Begin(t.Context(), Opening{Definition: d, Owner: "o"})
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// source is a batch of some pages, each of which links to the next, and asks for no icon.
func (r *rig) source(batch string, texts ...string) Source {
	targets, list := map[string]crawl.Target{}, []Exchange(nil)
	for i, words := range texts {
		url := fmt.Sprintf("http://a.test/%s/%d", batch, i)
		targets[url] = crawl.Target{URL: url, Path: "SL", Priority: 0.5}
		x := Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: url, Path: "SL", Status: 200, MIME: "text/html"}}
		x.Outcome = crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200}
		html := fmt.Sprintf(`<p>%s</p><p><a href="%d">next</a></p><link rel=icon href="data:,">`, words, i+1)
		x.Header, x.Body = reader(""), reader(html)
		if words == "" {
			x.Body = func() io.Reader { panic("a page that breaks the parser") }
		}
		list = append(list, x)
	}
	return Source{
		Crawl: "c", Batch: batch,
		Targets: func() (map[string]crawl.Target, error) { return targets, nil },
		Exchanges: func(map[string]crawl.Target) ([]Exchange, func() error, error) {
			r.read++
			return list, func() error { return nil }, nil
		},
	}
}

// TestStates: a batch goes from state to state in memory; what memory has lost is computed again from the exchanges.
func TestStates(t *testing.T) {
	r := newRig(t, nil)
	s := r.source("b-1", "ravens fly, a raven", "soup and bread", "", "the raven")
	parsed, err := r.Parse(t.Context(), s)
	r.must(err)
	if len(parsed.Pages) != 3 || parsed.Broken != 1 || parsed.Pages[2].Entry != 3 {
		t.Fatalf("%d pages, %d broken", len(parsed.Pages), parsed.Broken)
	}
	judged, err := r.Judge(t.Context(), s)
	r.must(err)
	if r.read != 1 || len(judged.Pages) != 3 {
		t.Fatalf("read %d times, %d pages", r.read, len(judged.Pages))
	}
	if again, err := r.Judge(t.Context(), s); err != nil || again != judged {
		t.Errorf("the pages are judged twice: %v", err)
	}
	r.Drop("c", "b-1")
	again, err := r.Judge(t.Context(), s)
	r.must(err)
	if r.read != 2 {
		t.Errorf("read %d times", r.read)
	}
	if parsed, err := r.Parse(t.Context(), s); err != nil || r.read != 2 || len(parsed.Pages) != 3 || parsed.Broken != 1 {
		t.Errorf("what is judged is parsed again: read %d times, %v", r.read, err)
	}
	later := s
	later.Run = "the next" // which fetches first
	if _, err := r.Judge(t.Context(), later); err != nil || r.read != 3 {
		t.Errorf("read %d times, %v", r.read, err)
	}
	for i := range judged.Pages {
		a, b := &judged.Pages[i], &again.Pages[i]
		if a.URL != b.URL || a.Verdict.Score != b.Verdict.Score || a.Entry != b.Entry || a.Sample != nil {
			t.Errorf("%+v, again %+v", a.Judged, b.Judged)
		}
	}
	if p := judged.Pages; p[0].Verdict.Score <= p[1].Verdict.Score {
		t.Errorf("scores %v and %v", p[0].Verdict.Score, p[1].Verdict.Score)
	}
	r.must(r.Remember("c", "b-1"))
	if r.Handover.total != 0 {
		t.Errorf("%d bytes are held of a batch that is archived", r.Handover.total)
	}
	r.must(r.Remember("c", "b-1")) // each counts once: nothing is left to count
	r.Forget("c")
}

// TestStopped: a cancelled step ends, and leaves nothing incomplete.
func TestStopped(t *testing.T) {
	r := newRig(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := r.source("b-1", "raven")
	if _, err := r.Parse(ctx, s); err == nil {
		t.Error("parsed")
	}
	if _, err := r.Judge(ctx, s); err == nil {
		t.Error("judged")
	}
	if r.Handover.total != 0 {
		t.Errorf("%d bytes are held", r.Handover.total)
	}
}

// TestRejectedWhenFetched: the links of a page that the scope's rules reject by its language are not followed; the page is judged as any other.
func TestRejectedWhenFetched(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Scope.Rules = []crawl.Rule{{Reject: &crawl.Conditions{Language: crawl.Texts{"en"}}}}
	})
	english := "The ravens of the tower are said to guard the kingdom, and the people who live there believe that it will fall when they leave."
	s := r.source("b-1", english, "soup")
	parseEarly(t, r, s)
	judged, err := r.Judge(t.Context(), s)
	r.must(err)
	if got := judged.Pages[0]; got.Unfollowed != "scope.rules[0]" || got.Language != "en" || len(got.Links) != 1 || got.Follows(crawl.HopLink) || got.Follows(crawl.HopEmbed) {
		t.Errorf("the page in English: %q, %q, %d links", got.Unfollowed, got.Language, len(got.Links))
	}
	if got := judged.Pages[1]; !got.Follows(crawl.HopLink) {
		t.Errorf("a page whose language is not known: %q", got.Unfollowed)
	}
}

// TestNoFollow: the links of a page that asks robots not to follow them are followed only if the definition says so; what it asks is kept.
func TestNoFollow(t *testing.T) {
	for policy, want := range map[string]bool{"": false, crawl.RobotsObey: false, crawl.RobotsIgnore: true} {
		testNoFollow(t, policy, want, false)
		testNoFollow(t, policy, want, true)
	}
}

func testNoFollow(t *testing.T, policy string, want, early bool) {
	r := newRig(t, func(d *crawl.Definition) { d.Robots.NoFollow = policy })
	s := r.source("b-1", "a page")
	exchanges, _, err := s.Exchanges(nil)
	r.must(err)
	plan, err := r.Frontier.Crawl(s.Crawl).Plan()
	r.must(err)
	agent := strings.ToLower(robots.Token(plan.Definition.Politeness.UserAgent))
	exchanges[0].RobotsTag = agent + ": nofollow\notherbot: noarchive"
	if early {
		parseEarly(t, r, s)
	}
	parsed, err := r.Parse(t.Context(), s)
	r.must(err)
	if p := parsed.Pages[0]; p.Follows(crawl.HopLink) != want || !p.Follows(crawl.HopEmbed) || p.Robots != agent+": nofollow, otherbot: noarchive" || len(p.Links) != 1 {
		t.Errorf("%q, parsed early %v: followed %v, %q", policy, early, p.Follows(crawl.HopLink), p.Robots)
	}
}

// parseEarly parses the pages of a batch as FETCH does while it waits.
func parseEarly(t *testing.T, r *rig, s Source) {
	t.Helper()
	plan, err := r.Frontier.Crawl(s.Crawl).Plan()
	r.must(err)
	targets, err := s.Targets()
	r.must(err)
	exchanges, _, err := s.Exchanges(targets)
	r.must(err)
	for i := range exchanges {
		rejected := plan.Definition.Scope.Rules != nil && i == 0 // its requisites are not fetched
		if p, _ := r.ParseEarly(t.Context(), s, &exchanges[i], &plan, nil); (p == nil) != rejected {
			t.Fatalf("%s: parsed early: %+v", exchanges[i].URL, p)
		}
	}
}

// TestResult: what the frontier gets of a page.
func TestResult(t *testing.T) {
	link := crawl.Outlink{URL: "http://a.test/x", Hop: crawl.HopLink, TagPath: "html/body"}
	p := crawl.Judged{Verdict: crawl.Verdict{Score: 0.4, Worth: 0.3, PageFeatures: []byte{2}, Links: []crawl.LinkVerdict{{Score: 0.7}}}}
	p.Page = crawl.Page{URL: "http://a.test/", Links: []crawl.Outlink{link}}
	p.Findings = crawl.Findings{Level: "article", Application: "wiki", Prints: []byte{1}}
	p.Print = &crawl.Print{Words: 3}
	silent := p
	silent.NoFollow = true
	rejected := p
	rejected.Unfollowed = "scope.rules[0]"
	for name, c := range map[string]struct {
		p           *Judged
		places      bool
		score       float64
		discoveries int
		samples     int
		tagPath     string
	}{
		"nothing was understood":     {score: -1},
		"a page":                     {p: &Judged{Judged: p}, score: 0.4, discoveries: 1},
		"by places":                  {p: &Judged{Judged: p}, places: true, score: 0.4, discoveries: 1, tagPath: "html/body"},
		"its links are not followed": {p: &Judged{Judged: silent}, score: 0.4},
		"the scope rejects it":       {p: &Judged{Judged: rejected}, score: 0.4},
		"of the reference crawl":     {p: &Judged{Judged: p, Sample: &topic.Sample{URL: p.URL}}, score: 0.4, discoveries: 1, samples: 1},
	} {
		var r Result
		r.Add(crawl.Outcome{URL: p.URL, Kind: crawl.OutcomeDone}, false, "SL", c.p, crawl.LinkNeeds{Places: c.places})
		if len(r.Outcomes) != 1 || r.Outcomes[0].Score != c.score || len(r.Discoveries) != c.discoveries || len(r.Samples) != c.samples {
			t.Fatalf("%s: %+v", name, r)
		}
		if c.p != nil && (r.Outcomes[0].App != "wiki" || r.Outcomes[0].Level != "article" || r.Outcomes[0].Worth != 0.3 || r.Outcomes[0].Print != p.Print) {
			t.Errorf("%s: %+v", name, r.Outcomes[0])
		}
		for _, d := range r.Discoveries {
			if d.Path != "SLL" || d.Via != p.URL || d.TagPath != c.tagPath || d.Score != 0.7 {
				t.Errorf("%s: %+v", name, d)
			}
		}
		commit, err := r.Commit("b-1")
		if err != nil || (commit.Sample != nil) != (c.samples > 0) || commit.Batch != "b-1" || len(commit.Outcomes) != 1 {
			t.Errorf("%s: %+v, %v", name, commit, err)
		}
	}
}

// TestLearn: the model of the reference crawl is archived before it is in force, and scores the links that the crawl found.
func TestLearn(t *testing.T) {
	r := newRig(t, nil)
	r.must(r.Frontier.Crawl("c").Phase(10, true))
	s := r.source("b-1", strings.Repeat("raven wotan saga stones. ", 9), strings.Repeat("soup bread butter. ", 9))
	judged, err := r.Judge(t.Context(), s)
	r.must(err)
	var result Result
	var links []archive.Link
	for i := range judged.Pages {
		p := &judged.Pages[i]
		if p.Sample == nil {
			t.Fatal("a page of the reference crawl teaches nothing")
		}
		result.Add(crawl.Outcome{URL: p.Page.URL, Kind: crawl.OutcomeDone, Status: 200}, false, "SL", p, crawl.LinkNeeds{})
		for i := range p.Links {
			links = append(links, archive.LinkOf(&p.Judged, "SL", i))
		}
	}
	commit, err := result.Commit("b-1")
	r.must(err)
	r.must(r.Frontier.Crawl("c").Commit(commit))
	kept := false
	inForce := func() *topic.Model {
		plan, err := r.Frontier.Crawl("c").Plan()
		r.must(err)
		model, err := plan.Topic()
		r.must(err)
		return model
	}
	samples, err := r.Samples("c")
	r.must(err)
	learned, err := r.Learn(t.Context(), "c", samples, func(_ context.Context, fn func(archive.Link) error) error {
		for _, l := range links {
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	}, func(l topic.Model) error {
		kept = len(l.Terms) > 0 && inForce() == nil
		return nil
	})
	r.must(err)
	if model := inForce(); !kept || model == nil || !reflect.DeepEqual(*model, learned) {
		t.Errorf("kept before it was in force: %v; in force %+v", kept, model)
	}
	if !r.Frontier.Crawl("c").Batch("reorder-1").Committed() {
		t.Error("nothing was scored again")
	}
}

// The links of a probe, and of a page that reads like one, are not followed; nor is a probe scored.
func TestCompareWithProbe(t *testing.T) {
	home, err := urls.Parse("http://a.example/news/")
	if err != nil {
		t.Fatal(err)
	}
	page := func(url string) *Judged {
		j := &Judged{}
		j.URL, j.MIME, j.Status, j.Blocks = url, "text/html", 200, []string{"Nothing is here."}
		j.Verdict, j.Print = crawl.Verdict{Score: 0.5, PageFeatures: []byte{1}}, &crawl.Print{Words: 3}
		return j
	}
	for url, want := range map[string]struct {
		missing, followed bool
		score             float64
	}{
		traps.ProbeOf(home):       {true, false, -1},
		"http://a.example/news/1": {true, false, 0.5},
		"http://a.example/news/2": {false, true, 0.5},
	} {
		j := page(url)
		if err := j.compare(func(string, *crawl.Print) (bool, error) { return want.missing, nil }); err != nil {
			t.Fatal(err)
		}
		if j.Follows(crawl.HopLink) != want.followed || j.Verdict.Score != want.score {
			t.Errorf("%s: followed %v, score %v", url, j.Follows(crawl.HopLink), j.Verdict.Score)
		}
	}
}

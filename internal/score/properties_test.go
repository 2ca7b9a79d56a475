package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// chance makes random definitions and pages.
type chance struct{ *rand.Rand }

func (r chance) of(list ...string) string { return list[r.IntN(len(list))] }

func (r chance) text(most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(r.of("raven", "crow", "Ravens", "fox", "the", "of", "東京", "へ行く", "Muninn", "US", "us", "été", "e\u0301", "\xff", "«", "1984", "ı", "ß", "한국어", "สวัสดี", "averyveryverylongwordindeed", strings.Repeat("x", 30)))
		b.WriteString(r.of(" ", " ", " ", "", "-", "_", "\n", "\u00a0"))
	}
	return b.String()
}

func (r chance) number() float64 {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return 1
	}
	return r.Float64()
}

func (r chance) definition() crawl.Definition {
	d := crawl.Definition{}
	for range r.IntN(3) {
		d.Topic.Keywords = append(d.Topic.Keywords, r.text(3))
	}
	for range r.IntN(4) {
		e := crawl.Entity{Name: r.text(2)}
		for range r.IntN(3) {
			e.Aliases = append(e.Aliases, r.text(2))
		}
		d.Topic.Entities = append(d.Topic.Entities, e)
	}
	for range r.IntN(2) {
		d.Topic.Examples = append(d.Topic.Examples, crawl.Example{Text: r.text(30)})
	}
	for range r.IntN(3) {
		d.Topic.URLPatterns = append(d.Topic.URLPatterns, crawl.URLPattern{Pattern: r.of("*", "*raven*", "surt:example,a,", "re:[0-9]"), Score: r.number()})
	}
	for range r.IntN(2) {
		d.Topic.Languages = append(d.Topic.Languages, r.of("en", "de", "ja"))
	}
	for _, w := range []*float64{
		&d.Weights.Document, &d.Weights.Paragraph, &d.Weights.Anchor, &d.Weights.URL, &d.Weights.Tokens, &d.Weights.Entities,
		&d.Weights.History, &d.Weights.Language, &d.Weights.Freshness, &d.Weights.Spam, &d.Weights.Social, &d.Weights.Helper,
	} {
		*w = []float64{0, 1, r.Float64(), 1e-9, 1e9}[r.IntN(5)]
	}
	return d
}

func (r chance) page() *crawl.Parsed {
	p := parsed(crawl.Page{
		URL: fmt.Sprintf("http://%s.example/%s/%d", r.of("a", "b"), r.of("x", "y"), r.IntN(5)), Language: r.of("", "en", "de", "ja", "xx"), Title: r.text(30),
	})
	for range r.IntN(6) {
		p.Blocks = append(p.Blocks, r.text(60))
	}
	if r.IntN(2) == 0 {
		for range p.Blocks {
			p.Content = append(p.Content, r.IntN(2) == 0)
		}
	}
	for range r.IntN(3) {
		p.Objects = append(p.Objects, crawl.Object{Properties: crawl.Properties{{Name: r.of("date", "modified", "title"), Value: r.of("2026-01-01", "1066-10-14", "9999-12-31", "2020-02-30", "", "0001-01-01T00:00:00Z")}}})
	}
	for range r.IntN(8) {
		p.Links = append(p.Links, crawl.Outlink{
			URL: r.of("http://a.example/", "http://a.example/x/1", "http://b.example/raven_crow?q=1", "https://c.example/%E6%9D%B1", "mailto:a@a.example", "", "http://a.example/東京/Muninn"),
			Hop: crawl.Hop("LNERMP"[r.IntN(6)]), Anchor: r.text(4), Block: r.IntN(9) - 1, LinkFindings: crawl.LinkFindings{Prior: r.number()},
		})
	}
	return p
}

func (r chance) context() Context {
	return Context{
		Inherit: []float64{0.5, 0, 1, -1, 2, math.NaN(), math.Inf(1)}[r.IntN(7)], Submitted: []float64{0, 1, 0.5, -1, 3}[r.IntN(5)],
		Now: []time.Time{{}, time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC)}[r.IntN(2)], View: r.IntN(2) == 0, Terms: r.IntN(2) == 0,
	}
}

// sound checks the invariants of scored links.
func sound(t *testing.T, s *Scorer, url string, l crawl.LinkVerdict, inherit float64) {
	t.Helper()
	place, sum, weights := -1, 0.0, 0.0
	for _, p := range l.Parts {
		if !(p.Score >= 0 && p.Score <= 1) {
			t.Fatalf("%s: the part %s is %g", url, p.Name, p.Score)
		}
		at := slices.IndexFunc(s.analysers, func(a analyser) bool { return a.name == p.Name })
		if at <= place {
			t.Fatalf("%s: the parts %v are of other analysers, or in another order", url, l.Parts)
		}
		place = at
		if s.weights[p.Name] <= 0 {
			t.Fatalf("%s: %s speaks without a weight", url, p.Name)
		}
		sum, weights = sum+p.Score*s.weights[p.Name], weights+s.weights[p.Name]
	}
	want := inherit
	switch {
	case weights > 0:
		want = sum / weights
	case !(inherit > 0): // also NaN
		want = 0
	case inherit > 1:
		want = 1
	}
	if !(l.Score >= 0 && l.Score <= 1) || math.Abs(l.Score-want) > 1e-9 {
		t.Fatalf("%s scores %g, want %g of %v", url, l.Score, want, l.Parts)
	}
}

// TestScoresAreSound: for any definition and any pages, every part and score is in [0,1], and the score is the mean of the
// parts; also for links that are scored again, and in batches.
func TestScoresAreSound(t *testing.T) {
	a := NewDictionary()
	spoke := map[crawl.PartName]int{}
	scored := 0
	for seed := range uint64(300) {
		r := chance{rand.New(rand.NewPCG(seed, 7))}
		m := topic.Memory{}
		if r.IntN(2) == 0 {
			m.DocumentFrequencies = topic.NewDocumentFrequencies(a.Vocabulary, nil)
		}
		if r.IntN(2) == 0 {
			m.SiteHistory = topic.NewSiteHistory()
		}
		s, err := New(r.definition(), nil, a, m)
		if err != nil {
			t.Fatal(err)
		}
		batch := &scoreMerge{scorer: s}
		var verdicts [][]crawl.LinkVerdict
		for range 25 {
			p, c := r.page(), r.context()
			c.Terms = true
			out := s.Page(p, c)
			m.Observe(out.Observation)
			score := out.Verdict.Score
			if !(score >= 0 && score <= 1) && score != silent {
				t.Fatalf("a page scores %g", score)
			}
			if score > 0 {
				scored++
			}
			for i, l := range out.Verdict.Links {
				sound(t, s, p.Links[i].URL, l, c.Inherit)
				for _, part := range l.Parts {
					spoke[part.Name]++
				}
				former := l
				former.Score = Clamp(c.Inherit)
				again, _ := s.RescoreOutlink(p.Links[i], former, out.Terms.Heaviest(r.IntN(5)), r.text(10), p.Language)
				sound(t, s, p.Links[i].URL, again, Clamp(c.Inherit))
				if c.View && len(out.View.Links[i].Hints) > len(l.Parts) {
					t.Fatalf("%v make the hints %v", l.Parts, out.View.Links[i].Hints)
				}
			}
			batch.add(&p.Page, out.Verdict.Links, out.Terms)
			verdicts = append(verdicts, out.Verdict.Links)
		}
		batch.apply()
		for _, links := range verdicts {
			for i, l := range links {
				if len(l.Parts) > 0 {
					sound(t, s, fmt.Sprintf("link %d of a batch", i), l, 0)
				}
			}
		}
	}
	for _, name := range crawl.PartNames { // else the test proves nothing about it
		if spoke[name] < 50 {
			t.Errorf("%s spoke of %d links", name, spoke[name])
		}
	}
	if scored < 500 {
		t.Errorf("%d pages score", scored)
	}
}

// TestMonotone: a higher part never makes a score lower, and makes it higher if it has a weight.
func TestMonotone(t *testing.T) {
	for seed := range uint64(2000) {
		r := chance{rand.New(rand.NewPCG(seed, 8))}
		s := &Scorer{weights: map[crawl.PartName]float64{}}
		var parts crawl.Parts
		for _, name := range crawl.PartNames {
			s.weights[name] = []float64{0, 1, 4 * r.Float64()}[r.IntN(3)]
			if r.IntN(2) == 0 {
				parts = append(parts, crawl.Part{Name: name, Score: r.number()})
			}
		}
		before := s.average(parts, 0.5)
		for i, p := range parts {
			higher := slices.Clone(parts)
			higher[i].Score += (1 - p.Score) * r.Float64()
			after := s.average(higher, 0.5)
			if after < before-1e-15 {
				t.Fatalf("%v score %g, %v %g", parts, before, higher, after)
			}
			if weight := s.weights[p.Name]; weight > 0.01 && higher[i].Score > p.Score+1e-6 && after <= before {
				t.Fatalf("%v score %g, with %s of %g (weight %g) no more", parts, before, p.Name, higher[i].Score, weight)
			}
		}
	}
}

// TestMoreIsMore: of two links that differ only for one analyser, the one with more for it scores higher.
func TestMoreIsMore(t *testing.T) {
	about, _, _ := everything()
	for _, c := range []struct {
		name       string
		less, more func(*crawl.Parsed, *crawl.Outlink, *Context)
	}{
		{"helper", func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Prior = 0.1 }, func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Prior = 0.2 }},
		{"anchor", func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Anchor = "raven fox" }, func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Anchor = "raven" }},
		{"history", func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.URL = "http://a.example/" }, func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.URL = "http://b.example/" }},
		{"tokens", func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.URL = "http://a.example/raven/fox" }, func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.URL = "http://a.example/raven/raven" }},
		{"social", func(_ *crawl.Parsed, _ *crawl.Outlink, c *Context) { c.Submitted = 0.1 }, func(_ *crawl.Parsed, _ *crawl.Outlink, c *Context) { c.Submitted = 0.2 }},
		{"language", func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Language = "xx" }, func(*crawl.Parsed, *crawl.Outlink, *Context) {}},
		{"freshness", func(*crawl.Parsed, *crawl.Outlink, *Context) {}, func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Objects[0].Properties[0].Value = "2026-10-04" }},
		{"document", func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Blocks = []string{"www", "", "", "", "fox"} }, func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Blocks = []string{"raven", "", "", "", "fox"} }},
		{"paragraph", func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Block = 0 }, func(_ *crawl.Parsed, l *crawl.Outlink, _ *Context) { l.Block = 4 }},
		{"entities", func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Title = "Nobody" }, func(p *crawl.Parsed, _ *crawl.Outlink, _ *Context) { p.Title = "Huginn" }},
	} {
		score := func(change func(*crawl.Parsed, *crawl.Outlink, *Context)) (float64, crawl.Parts) {
			_, p, context := everything()
			p.Links = p.Links[:1]
			change(p, &p.Links[0], &context)
			m := met()
			for range 3 {
				m.SiteHistory.Add("http://b.example/", 0.75)
			}
			v := remembering(t, about, weigh(t, 1, crawl.PartNames...), nil, NewDictionary(), m).Page(p, context).Verdict
			return v.Links[0].Score, v.Links[0].Parts
		}
		less, of := score(c.less)
		more, by := score(c.more)
		if more <= less {
			t.Errorf("%s: %g of %v, not more than %g of %v", c.name, more, by, less, of)
		}
	}
}

package pipeline

import (
	"net/netip"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/illustrated"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// illustratedPages are zipped pages with all kinds of requisites.
func illustratedPages(b *testing.B) (list []Exchange) {
	w := worldtest.Start(b, illustrated.New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.14.1")}, 40))
	for _, p := range w.Pages() {
		u := webworld.MustParse(p.URL)
		if found := w.Host(u.Hostname()).Find(u); found != nil && found.Status < 300 && !p.Embed {
			list = append(list, benched(p.URL, []byte(fixture.Gzip(string(webworld.Join(found.Body))))))
		}
	}
	return list
}

// BenchmarkParts is what parts of the work on a page cost, all on the same pages: to decode and parse it, for comparison; then the budget and the look-up of its requisites in the frontier, what is
// learned and asked of traps, the scope with rules, and the canonical form of its links. An operation is a page. The figures are CPU time, whatever else runs.
func BenchmarkParts(b *testing.B) {
	for _, web := range []struct {
		name  string
		pages []Exchange
	}{{"text", syntheticPages(b)}, {"illustrated", illustratedPages(b)}} {
		b.Run(web.name, func(b *testing.B) { benchParts(b, web.pages) })
	}
}

// partRules are rules of several kinds.
func partRules() crawl.Scope {
	few := crawl.Texts{"zip", "iso", "exe"}
	return crawl.Scope{Within: crawl.WithinPLD, Exclude: []string{"*calendar*"}, Rules: []crawl.Rule{
		{Reject: &crawl.Conditions{Extension: few}}, {Reject: &crawl.Conditions{Host: crawl.Texts{"x.example.org"}}}, {Reject: &crawl.Conditions{URL: crawl.Texts{"/calendar/[0-9]{4}"}}},
	}}
}

func benchParts(b *testing.B, exchanges []Exchange) {
	e := New(nil, nil, nil, page.DefaultLimits(), time.Now)
	front, err := frontier.Open(b.TempDir(), frontier.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = front.Close() }()
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Topic.Keywords, d.Scope = "c", []crawl.Seed{{URL: exchanges[0].URL}}, []string{"raven"}, partRules()
	opening := New(front, nil, score.NewDictionary(), page.DefaultLimits(), time.Now)
	if _, _, err := opening.Begin(b.Context(), Opening{Definition: d, Owner: "o"}); err != nil {
		b.Fatal(err)
	}
	bounds, err := scope.New(d, scope.Bounds(d, []string{exchanges[0].URL}))
	if err != nil {
		b.Fatal(err)
	}
	form := urls.NewForm(d.Canonical.Parameters, d.Canonical.PathParameters, d.Canonical.Sessions())
	pages, links := make([]crawl.Parsed, len(exchanges)), make([][]urls.URL, len(exchanges))
	for i := range exchanges {
		p, ok, err := e.Understand(b.Context(), &exchanges[i], "", nil)
		if !ok || err != nil {
			b.Fatal(exchanges[i].URL, err)
		}
		pages[i] = p
		for j := range p.Links {
			u, err := urls.Trusted(p.Links[j].URL)
			if err != nil {
				b.Fatal(err)
			}
			links[i] = append(links[i], u)
		}
	}
	var memory traps.Memory
	for _, part := range []struct {
		name string
		do   func(i int) (links int)
	}{
		{"parse", func(i int) int {
			p, _, err := e.Understand(b.Context(), &exchanges[i], "", nil)
			if err != nil {
				b.Fatal(err)
			}
			return len(p.Links)
		}},
		{"requisites", func(i int) (n int) {
			p := pages[i].Page
			p.Links = append([]crawl.Outlink(nil), p.Links...)
			p.CutRequisites(d.Budget.MaxRequisites())
			for j := range p.Links {
				if p.Links[j].Hop == crawl.HopEmbed {
					if _, err := front.Crawl(d.Name).URLs().Fate(p.Links[j].URL); err != nil {
						b.Fatal(err)
					}
					n++
				}
			}
			return n
		}},
		{"traps", func(i int) int {
			u, err := urls.Trusted(pages[i].URL)
			if err != nil {
				b.Fatal(err)
			}
			memory.Learn([]traps.Page{{URL: pages[i].URL, Shape: traps.ShapeOf(u), Print: traps.PrintOf(&pages[i].Page), Via: func() string { return "" }}})
			for j := range links[i] {
				if shape := traps.ShapeOf(links[i][j]); memory.Closes(shape) || memory.Suspicious(shape) {
					continue
				}
			}
			return len(links[i])
		}},
		{"scope", func(i int) int {
			for j := range links[i] {
				bounds.Check(scope.Link{URL: links[i][j], Path: crawl.Hopped("SL", pages[i].Links[j].Hop), Score: 0.5})
			}
			return len(links[i])
		}},
		{"canonical", func(i int) int {
			for j := range links[i] {
				form.Of(links[i][j])
			}
			return len(links[i])
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			all := 0
			start := cputime.Used()
			for i := 0; b.Loop(); i++ {
				all += part.do(i % len(pages))
			}
			used := float64(cputime.Used() - start)
			b.ReportMetric(used/1e3/float64(b.N), "cpu-µs/page")
			if all > 0 {
				b.ReportMetric(used/float64(all), "cpu-ns/link")
			}
			b.ReportMetric(float64(all)/float64(b.N), "links/page")
			b.ReportMetric(0, "ns/op")
		})
	}
}

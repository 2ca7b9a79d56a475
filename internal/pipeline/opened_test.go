package pipeline

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/kb"
)

// TestOpened: what a browser made of a page counts in place of the page, also if that was parsed early; links of both count, but for what the page loaded meanwhile. Of a page that
// could not be opened the page itself counts, and why.
func TestOpened(t *testing.T) {
	for _, early := range []bool{false, true} {
		r := newRig(t, func(d *crawl.Definition) { d.Browser = crawl.BrowserAuto })
		s := r.source("b-1", "plain", "dead")
		add := func(list []Exchange, page int, document, reason string) []Exchange {
			x := Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeOpened, URL: list[page].URL, MIME: "text/html; charset=utf-8"}, Header: reader(""), Body: reader(document)}
			x.Left = []string{"mailto:a@a.test", "/gone#top", "http://a.test/b-1/1", "/elsewhere"}
			if x.Outcome.Reason = reason; document != "" {
				x.Status = 200
			}
			return append(list, x)
		}
		exchanges := s.Exchanges
		if early {
			parseEarly(t, r, s)
		}
		s.Exchanges = func(mine map[string]crawl.Target) ([]Exchange, func() error, error) {
			list, done, err := exchanges(mine)
			list = slices.Clone(list)
			loaded := Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeLoaded, URL: "http://a.test/loaded.png", Via: list[0].URL, Status: 200, MIME: "image/png", Outcome: crawl.Outcome{Kind: crawl.OutcomeDone}}, Header: reader(""), Body: reader("x")}
			list = append(list, loaded)
			list = add(list, 0, `<title>ö</title><p>rendered ravens</p><a href=/made>made</a><img src=/loaded.png><img src=/left.png><link rel=icon href="data:,">`, "")
			list = add(list, 1, "", "the browser died")
			return list, done, err
		}
		parsed, err := r.Parse(t.Context(), s)
		r.must(err)
		if len(parsed.Pages) != 2 {
			t.Fatalf("%d pages", len(parsed.Pages))
		}
		var links []string
		for _, l := range parsed.Pages[0].Links {
			links = append(links, l.URL)
		}
		p := parsed.Pages[0]
		if !slices.Contains(p.Blocks, "rendered ravens") || slices.Contains(p.Blocks, "plain") || p.Title != "ö" || p.Opened != crawl.OpenedWhole || !slices.Equal(p.Loaded, []string{"http://a.test/loaded.png"}) {
			t.Errorf("early %t: %+v", early, p.Page)
		}
		if !slices.Equal(links, []string{"http://a.test/made", "http://a.test/left.png", "http://a.test/b-1/1", "http://a.test/gone", "http://a.test/elsewhere"}) {
			t.Errorf("early %t: links %q", early, links)
		}
		if p := parsed.Pages[1]; !slices.Contains(p.Blocks, "dead") || p.Opened != "the browser died" {
			t.Errorf("early %t: %+v", early, p.Page)
		} else if l := p.Links[len(p.Links)-2:]; l[0].URL != "http://a.test/gone" || l[0].Hop != crawl.HopRedirect || l[1].URL != "http://a.test/elsewhere" || l[1].Hop != crawl.HopLink {
			t.Errorf("early %t: it leaves to %+v", early, l)
		}
	}
}

// TestOpenedIcon: a page whose scripts name an icon does not need that of its host; one whose scripts name none does, once.
func TestOpenedIcon(t *testing.T) {
	r := newRig(t, nil)
	for document, want := range map[string]string{"<link rel=icon href=/i.png><p>ravens": "http://a.test/i.png", "<p>ravens": "http://a.test/favicon.ico"} {
		x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: "http://a.test/", Path: "S", Status: 200, MIME: "text/html", Outcome: crawl.Outcome{Kind: crawl.OutcomeDone}}, Header: reader(""), Body: reader("<p>plain")}
		shown := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeOpened, URL: x.URL, Status: 200, MIME: "text/html"}, Header: reader(""), Body: reader(document)}
		p, ok, err := r.understandOpened(t.Context(), x, shown, nil, "", nil)
		if err != nil || !ok || len(p.Links) != 1 || p.Links[0].URL != want {
			t.Errorf("%s: %v, %v, links %+v", document, ok, err, p.Links)
		}
	}
}

// TestNeedsScripts: a page of an application that needs its scripts, by the knowledge base, is opened though it is no empty shell; one of another is not, nor is any with helper: off.
func TestNeedsScripts(t *testing.T) {
	file := func(scripts string) fstest.MapFS {
		return fstest.MapFS{"applications/raven.xml": {Data: []byte(`<application xmlns="` + kb.Namespace + `" name="Raven" category="blog"` + scripts + `><detect xpath="//body[contains(., 'plain raven')]"/></application>`)}}
	}
	var by []uint64
	for _, c := range []struct {
		scripts, helper, text string
		want                  bool
	}{
		{` scripts="true"`, "", "plain raven", true},
		{` scripts="true"`, "", "another text", false},
		{` scripts="true"`, crawl.HelperOff, "plain raven", false},
		{` scripts="false"`, "", "plain raven", false},
		{``, "", "plain raven", false},
	} {
		r := newRig(t, func(d *crawl.Definition) { d.Browser, d.Helper = crawl.BrowserAuto, c.helper })
		base, err := kb.Load(file(c.scripts))
		r.must(err)
		r.Helper = aah.New(base, aah.DefaultLimits())
		s := r.source("b-1", c.text)
		plan, err := r.Frontier.Crawl(s.Crawl).Plan()
		r.must(err)
		by = append(by, r.OpensBy(&plan.Definition))
		for _, early := range []bool{true, false} {
			list, _, err := s.Exchanges(nil)
			r.must(err)
			got := false
			if early {
				_, got = r.ParseEarly(t.Context(), s, &list[0], &plan, nil)
			} else {
				got = r.Opens(t.Context(), &list[0], &plan)
			}
			if got != c.want {
				t.Errorf("application%s, helper %q, %q, early %t: opened %t", c.scripts, c.helper, c.text, early, got)
			}
		}
	}
	if by[0] != by[1] || by[0] == by[2] || by[0] == by[3] || by[3] == by[4] || slices.Contains(by, 0) || slices.Max(by) >= crawl.ShownFrom {
		t.Errorf("what decides: %x", by)
	}
}

// TestShownWithoutSessions: pages that differ only in the sessions of their links show the same.
func TestShownWithoutSessions(t *testing.T) {
	shown := func(query string) uint64 {
		p := crawl.Parsed{Page: crawl.Page{Title: "list", Links: []crawl.Outlink{{URL: "http://a.example/t?" + query, Hop: crawl.HopLink}}}}
		return shownBy(&p)
	}
	one, two := shown("sid="+strings.Repeat("a1", 16)), shown("sid="+strings.Repeat("b2", 16))
	if one != two || one == shown("sid=short") {
		t.Errorf("%x, %x", one, two)
	}
}

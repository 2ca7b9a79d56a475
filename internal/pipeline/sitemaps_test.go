package pipeline

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// withRobots adds a robots.txt to the exchanges of a batch.
func withRobots(s Source, url string, status int, text, encoding string) Source {
	before := s.Exchanges
	s.Exchanges = func(targets map[string]crawl.Target) ([]Exchange, func() error, error) {
		list, done, err := before(targets)
		x := Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeRobots, URL: url, Path: "P", Status: status, Encoding: encoding}}
		x.Header, x.Body = reader(""), reader(text)
		return append([]Exchange{x}, list...), done, err
	}
	return s
}

// TestSitemapsOfRobots: if the definition says so, the sitemaps that a robots.txt names are links of it, with the priority and the hops of the URL
// for which it was fetched. It is no page of the crawl.
func TestSitemapsOfRobots(t *testing.T) {
	const text = "User-agent: *\nDisallow: /x\nSitemap: /s.xml\nSitemap: http://b.test/s.xml\n"
	for name, c := range map[string]struct {
		on       bool
		url      string
		status   int
		text     string
		encoding string
		want     string
	}{
		"asked for":       {true, "http://a.test/robots.txt", 200, text, "", "http://a.test/s.xml SLPM 0.50 http://b.test/s.xml SLPM 0.50"},
		"packed":          {true, "http://a.test/robots.txt", 200, fixture.Gzip(text), "gzip", "http://a.test/s.xml SLPM 0.50 http://b.test/s.xml SLPM 0.50"},
		"not asked for":   {false, "http://a.test/robots.txt", 200, text, "", ""},
		"an error":        {true, "http://a.test/robots.txt", 404, text, "", ""},
		"none":            {true, "http://a.test/robots.txt", 200, "User-agent: *\n", "", ""},
		"of another host": {true, "http://b.test/robots.txt", 200, text, "", ""},
	} {
		r := newRig(t, func(d *crawl.Definition) { d.Sitemaps = c.on })
		s := withRobots(r.source("b-1", "a raven", "two ravens"), c.url, c.status, c.text, c.encoding)
		judged, err := r.Judge(t.Context(), s)
		r.must(err)
		got, left := "", Result{}
		for i := range judged.Pages {
			p := &judged.Pages[i]
			if p.RobotsTxt == nil {
				continue
			}
			left.AddLinks(p.RobotsTxt.Path+crawl.HopPrereq.String(), p, crawl.LinkNeeds{})
			if p.Entry != 0 || p.Verdict.Score != -1 {
				t.Errorf("%s: %+v", name, p)
			}
		}
		for _, d := range left.Discoveries {
			got += " " + d.URL + " " + d.Path + " " + strings.TrimSuffix(strings.Repeat("0.50", btoi(d.Score == 0.5)), " ")
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if n := len(judged.visits); n != 2 {
			t.Errorf("%s: the crawl remembers %d pages", name, n)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestSitemapsInRow: a server that makes sitemaps without end is not followed without end.
func TestSitemapsInRow(t *testing.T) {
	for path, want := range map[string]int{"SPMMMM": 2, "SPMMMMM": 1, "MMMMML": 2} {
		p := crawl.Parsed{Page: crawl.Page{Links: []crawl.Outlink{{Hop: crawl.HopSitemap}, {Hop: crawl.HopLink}}}}
		if cutSitemaps(&p, path); len(p.Links) != want {
			t.Errorf("%s: %d links, want %d", path, len(p.Links), want)
		}
	}
}

package archive

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// FuzzMetadata: a metadata record has the fields of a page, each on a line, those that are empty left out.
func FuzzMetadata(f *testing.F) {
	f.Add("http://a.example/", "SLL", "A\r\ntitle", "wordpress", "rule", 0.5, "http://b.example/", "a/@href")
	f.Add("", "S", "\r", "\n", " ", -1.0, "http://b.example/x y\r\nz", "")
	f.Fuzz(func(t *testing.T, via, path, title, application, rule string, score float64, url, context string) {
		if strings.ContainsAny(url+context, " \t\r\n\v\f\u0085\u00a0") {
			url, context = "http://b.example/", "a/@href"
		}
		c := Capture{Exchange: crawl.Exchange{Via: via, Path: path, Elapsed: 1234 * time.Microsecond, Fault: rule}}
		c.Outcome.Kind, c.Outcome.Reason = crawl.OutcomeRetry, title
		p := &crawl.Judged{Verdict: crawl.Verdict{Score: score}}
		p.Title, p.Application, p.Rule, p.LevelRule, p.Confidence, p.Base = title, application, rule, context, score, via
		p.Objects = []crawl.Object{{Type: application, Rule: rule}}
		p.Links = []crawl.Outlink{{URL: url, Hop: crawl.HopLink, Context: context}, {URL: url, Hop: crawl.HopEmbed}}
		c.Page = p
		list := [][2]string{
			{"via", via}, {"hopsFromSeed", strings.TrimPrefix(path, crawl.HopSeed.String())}, {"fetchTimeMs", "1"}, {"muninn-http-fault", rule},
			{"muninn-outcome", string(crawl.OutcomeRetry) + ": " + title},
		}
		if score >= 0 {
			list = append(list, [2]string{"muninn-score", fmt.Sprintf("%.4f", score)})
		}
		list = append(list, [2]string{"title", title}, [2]string{"muninn-application", application}, [2]string{"muninn-rule", strings.TrimSpace(rule + " " + context)})
		if application != "" {
			list = append(list, [2]string{"muninn-confidence", fmt.Sprintf("%.2f", score)}, [2]string{"muninn-kb", via})
		}
		list = append(list, [2]string{"muninn-object", object(&p.Objects[0])}, [2]string{"outlink", url + " L " + context}, [2]string{"outlink", url + " E "})
		var want strings.Builder
		for _, l := range list {
			if value := oneLine(l[1]); value != "" {
				want.WriteString(l[0] + ": " + value + "\r\n")
			}
		}
		if got := string(appendMetadata(nil, c)); got != want.String() {
			t.Errorf("%q, want %q", got, want.String())
		}
	})
}

// TestHeaderOf304: all lines of the header of a 304 are kept, however long one is.
func TestHeaderOf304(t *testing.T) {
	lines := []string{"HTTP/1.1 304 Not Modified", "ETag: \"1\"", "X-Long: " + strings.Repeat("x", 200<<10), "X-Last: of all"}
	header := strings.Join(lines, "\r\n") + "\r\n\r\n"
	c := Capture{Header: func() io.Reader { return strings.NewReader(header) }}
	c.Outcome.Kind = crawl.OutcomeUnmodified
	want := "fetchTimeMs: 0\r\n"
	for _, l := range lines {
		want += "http-response-header: " + l + "\r\n"
	}
	if got := string(appendMetadata(nil, c)); got != want {
		t.Errorf("%d bytes are kept, want %d: %.200q", len(got), len(want), got)
	}
}

// TestLinksCut: a page says how many of its links are left out, if any are.
func TestLinksCut(t *testing.T) {
	for n, want := range map[int]bool{0: false, 7: true} {
		c := Capture{Page: &crawl.Judged{Verdict: crawl.Verdict{Score: -1}}}
		c.Page.LinksCut = n
		if got := string(appendMetadata(nil, c)); strings.Contains(got, "\r\nmuninn-links-cut: 7\r\n") != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

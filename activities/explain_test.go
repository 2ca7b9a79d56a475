package activities

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
)

// TestExplain: the explanation of a URL has what the frontier knows; a wrong URL or crawl gives an error.
func TestExplain(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	for name, c := range map[string]struct {
		in    AskInput
		state frontier.URLState
		fault string
	}{
		"a seed":                      {in: AskInput{Crawl: rigCrawl, URL: rigSeed}, state: "waiting"},
		"the same, written otherwise": {in: AskInput{Crawl: rigCrawl, URL: "HTTP://A.example"}, state: "waiting"},
		"no URL":                      {in: AskInput{Crawl: rigCrawl, URL: "foo bar"}, fault: `"foo bar" is not a URL`},
		"another crawl":               {in: AskInput{Crawl: "other", URL: rigSeed}, fault: "does not know the crawl other"},
	} {
		out, err := call[frontier.Explanation](r, r.Explain, c.in)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || out.State != c.state {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnd: a run ends for its owner, with its state and one report, also if its workflow asks several times.
func TestEnd(t *testing.T) {
	for name, c := range map[string]struct {
		in     EndInput
		fault  string
		active bool
	}{
		"by its owner":  {in: EndInput{Crawl: rigCrawl, Owner: "o"}},
		"by another":    {in: EndInput{Crawl: rigCrawl, Owner: "other"}, active: true}, // which a new run has taken over
		"another crawl": {in: EndInput{Crawl: "other", Owner: "o"}, fault: "does not know this crawl", active: true},
	} {
		r := newRig(t)
		r.begin("o", nil)
		for range 2 {
			out, err := call[EndResult](r, r.End, c.in)
			if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Fatalf("%s: %v", name, err)
			}
			if err != nil {
				continue
			}
			if _, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(out.Report))); err != nil || out.Status.Crawl != rigCrawl {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		}
		if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Active != c.active {
			t.Errorf("%s: the run is active: %v, %v", name, s.Active, err)
		}
	}
}

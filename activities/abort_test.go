package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestAbort: an aborted crawl claims nothing more, and says that it was aborted once nothing is in progress.
func TestAbort(t *testing.T) {
	for _, test := range []struct {
		name   string
		crawl  string
		known  bool
		claims int // of the next round
		spent  crawl.Reason
	}{
		{"a crawl that runs", rigCrawl, true, 0, crawl.ReasonAborted},
		{"a crawl that is not known", "other", false, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", nil)
			if err := r.do(r.Abort, test.crawl); (err == nil) != test.known {
				t.Error(err)
			}
			if round := r.claim(); len(round.Claims) != test.claims || round.Spent != test.spent {
				t.Errorf("%d claims, spent %q", len(round.Claims), round.Spent)
			}
		})
	}
}

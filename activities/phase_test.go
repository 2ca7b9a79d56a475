package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestPhase: a phase bounds the claims, and decides whether the topic is learned from its pages.
func TestPhase(t *testing.T) {
	for _, test := range []struct {
		name      string
		in        PhaseInput
		known     bool
		reference bool
		claims    int // of one URL each
	}{
		{"the reference crawl", PhaseInput{Crawl: rigCrawl, Pages: 3, Reference: true}, true, true, 3},
		{"the broad crawl", PhaseInput{Crawl: rigCrawl}, true, false, 5},
		{"a crawl that is not known", PhaseInput{Crawl: "other", Pages: 3, Reference: true}, false, false, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", func(d *crawl.Definition) {
				for _, host := range []string{"b", "c", "d", "e"} {
					d.Seeds = append(d.Seeds, crawl.Seed{URL: "http://" + host + ".example/"})
				}
			})
			if err := r.do(r.Phase, test.in); (err == nil) != test.known {
				t.Error(err)
			}
			plan, err := r.Frontier.Crawl(rigCrawl).Plan()
			if err != nil || plan.Reference != test.reference {
				t.Errorf("%+v, %v", plan, err)
			}
			if round := r.claim(); len(round.Claims) != test.claims {
				t.Errorf("%d claims, want %d", len(round.Claims), test.claims)
			}
		})
	}
}

package activities

import "testing"

// TestPhase: a phase bounds the claims, and decides whether the topic is learned from its pages.
func TestPhase(t *testing.T) {
	for _, reference := range []bool{true, false} {
		r := newRig(t)
		r.begin("o", nil)
		r.must(r.do(r.Phase, PhaseInput{Crawl: rigCrawl, Pages: 3, Reference: reference}))
		if plan, err := r.Frontier.Crawl(rigCrawl).Plan(); err != nil || plan.Reference != reference {
			t.Errorf("%+v, %v", plan, err)
		}
		if err := r.do(r.Phase, PhaseInput{Crawl: "other"}); err == nil {
			t.Error("a phase of a crawl that is not known")
		}
	}
}

package frontier

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Crawls count by weight as long as they claim and have something to do: not one that is paused or was terminated.
func TestWeights(t *testing.T) {
	r, other := twoCrawls(t, func(d *crawl.Definition) { d.Politeness.Weight = 3 })
	name := definition(nil).Name
	weights := func(when string, wantAll int) {
		t.Helper()
		if own, all := r.Frontier.Crawl(name).Claims().Weights(); own != 3 || all != wantAll {
			t.Errorf("%s: weight %d of %d, want 3 of %d", when, own, all, wantAll)
		}
	}
	weights("neither claims", 3)
	other()
	weights("the other one claims", 6)
	if own, all := r.Frontier.Crawl("unknown").Claims().Weights(); own != 1 || all != 4 {
		t.Errorf("a crawl that is not known: weight %d of %d", own, all)
	}
	r.clock.pass(claimsWithin - time.Second)
	weights("a moment later", 6)
	r.clock.pass(time.Second)
	weights("the other one claims no more", 3)
}

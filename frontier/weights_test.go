package frontier

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Crawls count by weight as long as they have something to do.
func TestWeights(t *testing.T) {
	r, _ := twoCrawls(t, func(d *crawl.Definition) { d.Politeness.Weight = 3 })
	name := definition(nil).Name
	if own, all := r.Weights(name); own != 3 || all != 6 {
		t.Errorf("weight %d of %d", own, all)
	}
	if own, all := r.Weights("unknown"); own != 1 || all != 7 {
		t.Errorf("a crawl that is not known: weight %d of %d", own, all)
	}
}

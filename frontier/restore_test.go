package frontier

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestRestoreLearning: a new frontier that restores what another has learned has the same state, and continues from there.
func TestRestoreLearning(t *testing.T) {
	c := listCommits(6, 10)
	lost := newRig(t, ofRavens)
	lost.submit("seeds", c.seeds...)
	for _, commit := range c.commits[:5] {
		lost.must(lost.Commit(commit))
	}
	raw, err := lost.Learning().Snapshot()
	if err != nil || len(raw) == 0 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	r := newRig(t, ofRavens)
	if err := r.Learning().Restore([]byte("no snapshot")); err == nil {
		t.Error("what is no snapshot is taken")
	}
	r.must(r.Learning().Restore(raw))
	for range 2 {
		if !slices.Equal(lost.judgements(c), r.judgements(c)) {
			t.Fatal("the new frontier knows something else")
		}
		r.reopen()
	}
	// both learn the same from then on: the pages of the last commit are known to none
	for _, both := range []*rig{lost, r} {
		for i, o := range c.commits[5].Outcomes {
			both.submit(string(rune('a'+i)), crawl.Discovery{URL: o.URL, Path: "S", Score: 1})
		}
	}
	before := r.judgements(c)
	r.must(r.Commit(c.commits[5]))
	if slices.Equal(before, r.judgements(c)) {
		t.Error("it learns nothing any more")
	}
	after := r.judgements(c)
	if r.reopen(); !slices.Equal(after, r.judgements(c)) {
		t.Error("after a restart it knows something else")
	}

	plain := newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyWeighted })
	plain.must(plain.Learning().Restore(raw))
	if raw, err := plain.Learning().Snapshot(); raw != nil || err != nil {
		t.Errorf("an order that does not learn has learned %d bytes, %v", len(raw), err)
	}
}

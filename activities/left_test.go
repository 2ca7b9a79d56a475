package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/frontier"
)

// TestLeft: a URL is left that was found, submitted or given back, and one that a batch has: it may come back. One that is done is not.
func TestLeft(t *testing.T) {
	done := func(body func(url string) string) func(r *rig) {
		return func(r *rig) {
			in := r.batch()
			r.open(in, body)
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
		}
	}
	nothing := done(func(string) string { return "<p>no link" })
	for name, test := range map[string]struct {
		before func(r *rig)
		left   bool
	}{
		"the seed waits":                   {func(*rig) {}, true},
		"a batch has the seed":             {func(r *rig) { r.batch() }, true},
		"the seed is given back":           {func(r *rig) { r.must(r.do(r.GiveBack, r.batch())) }, true},
		"the seed is done, without a link": {nothing, false},
		"the seed is done, with a link":    {done(linking), true},
		"a URL is submitted at the end": {func(r *rig) {
			nothing(r)
			r.must(r.do(r.Submit, SubmitInput{Crawl: rigCrawl, ID: "one", URLs: []frontier.Submission{submitted(rigSeed+"x", 0.5)}}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", nil)
			test.before(r)
			if left, err := call[bool](r, r.Left, rigCrawl); err != nil || left != test.left {
				t.Errorf("%t, %v, want %t", left, err, test.left)
			}
		})
	}
}

package activities

import (
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func submitted(url string, score float64) frontier.Submission {
	return frontier.Submission{Discovery: crawl.Discovery{URL: url, Score: score}}
}

// TestSubmit: the URLs of a submit are added once, also if it is repeated, and then wait.
func TestSubmit(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := SubmitInput{Crawl: rigCrawl, ID: "one", URLs: []frontier.Submission{
		submitted(rigSeed+"x", 0.5), submitted("foo:bar", 1), submitted("http://elsewhere.test/", 1),
	}}
	first, err := call[[]frontier.SubmitAnswer](r, r.Submit, in)
	r.must(err)
	again, err := call[[]frontier.SubmitAnswer](r, r.Submit, in)
	r.must(err)
	if len(first) != len(in.URLs) || len(again) != len(in.URLs) {
		t.Fatalf("%v, again %v", first, again)
	}
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("%v, again %v", first[i], again[i])
		}
	}
	if known := r.states(); known[rigSeed+"x"] != "waiting" || len(known) < 2 {
		t.Errorf("%v", known)
	}
}

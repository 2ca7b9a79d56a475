package activities

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func submitted(url string, score float64) frontier.Submission {
	return frontier.Submission{Discovery: crawl.Discovery{URL: url, Score: score}}
}

// TestSubmit: each URL of a submit has its answer, and what is accepted waits. A submit is added once: one that is repeated gets the answers
// that it had.
func TestSubmit(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	const accepted, known, malformed = frontier.SubmitAccepted, frontier.SubmitKnown, frontier.SubmitMalformed
	fine := []frontier.Submission{submitted(rigSeed+"x", 0.5)}
	mixed := []frontier.Submission{submitted(rigSeed+"y", 0.5), submitted("foo:bar", 1), submitted("http://elsewhere.test/", 1)}
	for _, test := range []struct {
		name    string
		id      string
		urls    []frontier.Submission
		answers []string
	}{
		{"nothing", "none", nil, nil},
		{"a URL", "one", fine, []string{accepted}},
		{"it is repeated", "one", fine, []string{accepted}},
		{"the same URL in another submit", "other", fine, []string{known}},
		{"some that are refused", "mixed", mixed, []string{accepted, malformed, accepted}},
		{"they are repeated", "mixed", mixed, []string{accepted, malformed, accepted}},
	} {
		list, err := call[[]frontier.SubmitAnswer](r, r.Submit, SubmitInput{Crawl: rigCrawl, ID: test.id, URLs: test.urls})
		var answers []string
		for _, a := range list {
			answers = append(answers, a.Answer)
		}
		if err != nil || !slices.Equal(answers, test.answers) {
			t.Errorf("%s: %+v, want %q, %v", test.name, list, test.answers, err)
		}
	}
	states := r.states()
	for _, u := range []string{rigSeed + "x", rigSeed + "y", "http://elsewhere.test/"} {
		if states[u] != "waiting" {
			t.Errorf("%s is %q", u, states[u])
		}
	}
}

package activities

import (
	"errors"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestLearnTogether: workers of a spread crawl learn from the samples of all, and come to the same topic, whichever has seen which page; samples that the archive does not have are
// an error, not less to learn from.
func TestLearnTogether(t *testing.T) {
	s := newSpreadRing(t)
	for _, name := range []string{"w", "v"} {
		s.join(name)
	}
	for name, r := range s.workers {
		_, err := call[BeginResult](r, r.Begin, BeginInput{Definition: r.definition(func(d *crawl.Definition) {
			d.Spread = true
			onTopic(d)
		}), Owner: s.owner, Holder: r.holder(), Run: 1})
		r.must(err)
		r.must(r.do(r.Phase, PhaseInput{Crawl: rigCrawl, Pages: 1, Reference: true}))
		if len(r.states()) == 0 {
			continue
		}
		in := r.batch()
		r.open(in, func(string) string { return "<p>" + strings.Repeat("The raven of Odin flew over the saga stones. ", 9) })
		r.must(r.do(r.Process, in))
		r.must(r.do(r.Commit, in))
		t.Log("the seed is of", name)
	}
	var keys []string
	for _, name := range []string{"w", "v"} {
		r := s.workers[name]
		key, err := call[string](r, r.Samples, rigCrawl)
		r.must(err)
		if want := "c/topic/run-1-samples@" + name + ".cbor"; key != want {
			t.Errorf("the samples of %s are at %s, want %s", name, key, want)
		}
		keys = append(keys, key)
	}
	var terms []string
	for _, name := range []string{"w", "v"} {
		r := s.workers[name]
		out, err := call[LearnResult](r, r.LearnTogether, LearnInput{Crawl: rigCrawl, Samples: keys})
		r.must(err)
		plan, err := r.Frontier.Crawl(rigCrawl).Plan()
		r.must(err)
		model, err := plan.Topic()
		r.must(err)
		if model == nil || len(model.Terms) == 0 || len(out.TopicModel.Terms) == 0 {
			t.Fatalf("%s has learned %+v", name, out)
		}
		var text strings.Builder
		for _, term := range out.TopicModel.Terms {
			text.WriteString(term.Text + " ")
		}
		terms = append(terms, text.String())
	}
	if terms[0] != terms[1] {
		t.Errorf("w has learned %s, v %s", terms[0], terms[1])
	}
	r := s.workers["w"]
	if _, err := r.LearnTogether(t.Context(), LearnInput{Crawl: rigCrawl, Samples: append(keys, "c/topic/run-1-samples@gone.cbor")}); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("without the samples of a worker: %v", err)
	}
}

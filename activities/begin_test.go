package activities

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestBegin: a run begins once, also if it is asked for again. A definition that can never work gives an error that is not retried.
func TestBegin(t *testing.T) {
	rules := func(kind, x string) func(error) bool {
		return func(err error) bool {
			var made *temporal.ApplicationError
			return errors.As(err, &made) && made.Type() == kind && made.NonRetryable() && strings.Contains(err.Error(), x)
		}
	}
	for name, c := range map[string]struct {
		edit    func(*crawl.Definition)
		fails   func(error) bool
		seeds   int
		waiting int
	}{
		"a seed":                         {seeds: 1, waiting: 1},
		"an example":                     {edit: func(d *crawl.Definition) { d.Topic.Examples = []crawl.Example{{URL: rigSeed + "ravens"}} }, seeds: 2, waiting: 2},
		"an archive that is not allowed": {edit: func(d *crawl.Definition) { d.Archive.Where = "s3://elsewhere/x" }, fails: rules(ErrorInput, "archive-allow")},
		"a file that is not allowed":     {edit: func(d *crawl.Definition) { d.Seeds = []crawl.Seed{{File: "/etc/passwd"}} }, fails: rules(ErrorInput, "seeds")},
		"faults":                         {edit: func(d *crawl.Definition) { d.Seeds = nil }, fails: rules(ErrorInput, "the definition has faults")},
	} {
		r := newRig(t)
		in := BeginInput{Definition: r.definition(c.edit), Owner: "crawl/c@1"}
		out, err := call[BeginResult](r, r.Begin, in)
		if c.fails != nil {
			if !c.fails(err) || r.Frontier.Knows(rigCrawl) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		again, errAgain := call[BeginResult](r, r.Begin, in)
		if err != nil || errAgain != nil || out != again || out.Run != 1 || out.Seeds != c.seeds || out.Archive != r.dir || out.Former != "" {
			t.Errorf("%s: %+v, %v; again %+v, %v", name, out, err, again, errAgain)
		}
		if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Waiting != c.waiting {
			t.Errorf("%s: %d URLs wait, %v", name, s.Waiting, err)
		}
		if _, err := os.Stat(filepath.Join(r.dir, "c", "definitions", "run-1.json")); err != nil {
			t.Errorf("%s: the definition is not archived: %v", name, err)
		}
	}
}

// TestKeptDefinitions: another definition of the same run is archived under its own name, and the same definition only once.
func TestKeptDefinitions(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	changed := r.definition(func(d *crawl.Definition) { d.Description = "changed" })
	for range 2 {
		r.must(r.do(r.Configure, ConfigureInput{Definition: changed}))
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "c", "definitions", "*.json"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestBeginAwaitsRing: a worker that has no permit of the ring when it is to begin a run does so once it has one, in the same attempt.
func TestBeginAwaitsRing(t *testing.T) {
	s := newSpreadRing(t)
	s.join("w")
	r := s.workers["w"]
	answered, asked := r.Membership, 0
	r.Membership = NewMembership("w", "w") // the ring has not answered it yet
	r.Now = func() time.Time {
		if asked++; asked == 2 { // after a first try
			r.Membership = answered
		}
		return time.Now()
	}
	s.begin("w")
}

package score

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// judged lets a judge score pages of a host: one of five is relevant.
func judged(t *testing.T, j *Judge, from, pages int) (visits []topic.Observation) {
	t.Helper()
	b := j.Batch(nil)
	for i := from; i < from+pages; i++ {
		text := []string{"raven", "fox", "fox hare", "fox", "hare"}[i%5]
		p := parsed(crawl.Page{URL: fmt.Sprintf("http://a.example/%d/%d", i%3, i), Language: "en", Blocks: []string{text}})
		if _, _, err := b.Page(p, Context{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Observations
}

// TestMemory: a judge remembers pages when they are archived, and a judge that takes over its memory knows the same.
func TestMemory(t *testing.T) {
	a := NewDictionary()
	d := crawl.DefaultDefinition()
	d.Topic = ravens
	d.Topic.Threshold, d.Order.Strategy = 0.1, crawl.StrategyWeighted
	judge := func(d crawl.Definition, former *Judge, raw []byte) *Judge {
		t.Helper()
		j, err := NewJudge(d, nil, a, former, raw)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := judge(d, nil, nil)
	visits := judged(t, j, 0, 50)
	if pages, _ := counts(j.memory.DocumentFrequencies); pages != 0 || worth(j) != silent {
		t.Fatalf("%g pages count before they are archived", pages)
	}
	if raw, err := j.Remember(visits); raw != nil || err != nil {
		t.Fatalf("%d bytes are to be kept after 50 pages: %v", len(raw), err)
	}
	pages, df := counts(j.memory.DocumentFrequencies)
	if pages != 40 || df["fox"] != 30 || df["hare"] != 20 || df["raven"] != 0 {
		t.Errorf("%g pages of %v", pages, df)
	}
	if x := worth(j); x <= 0 || x >= 1 {
		t.Errorf("the folder is worth %g", x)
	}

	var many []uint32
	for i := range 10_000 { // more than is kept of a reference crawl
		many = append(many, a.Lexicon().ID(fmt.Sprint("term ", i)))
	}
	j.memory.DocumentFrequencies.Add(a.Lexicon(), many)
	raw, err := j.Remember(judged(t, j, 50, PagesPerMemory-50))
	if err != nil || len(raw) == 0 {
		t.Fatalf("nothing is to be kept after %d pages: %v", PagesPerMemory, err)
	}
	pages, df = counts(j.memory.DocumentFrequencies)
	before := worth(j)
	a = NewDictionary() // another process
	later := judge(d, nil, raw)
	if p, n := counts(later.memory.DocumentFrequencies); p != pages || !maps.Equal(n, df) {
		t.Errorf("after a restart %g pages of %v, want %g of %v", p, n, pages, df)
	}
	if got := worth(later); got != before {
		t.Errorf("after a restart the folder is worth %g, want %g", got, before)
	}
	if raw, _ := later.Remember(judged(t, later, 0, 10)); raw != nil {
		t.Error("ten pages later it is to be kept again")
	}
	if again := judge(d, later, raw); again.memory != later.memory {
		t.Error("a judge with a former one does not take over its memory")
	}

	d.Topic.Keywords = []string{"hare"}
	for name, raw := range map[string][]byte{"another topic": raw, "no memory": []byte("no memory"), "nothing": nil} {
		j := judge(d, nil, raw)
		if p, n := counts(j.memory.DocumentFrequencies); p != 0 || len(n) != 0 || worth(j) != silent {
			t.Errorf("of %s it remembers %g pages", name, p)
		}
	}
}

// counts are the pages and how many have a term, by its name.
func counts(f *topic.DocumentFrequencies) (float64, text.Vector) {
	pages, terms := f.Commonest(math.MaxInt)
	return pages, text.VectorOf(terms)
}

// worth is the mean score that the judge remembers for a folder; silent if it has too few pages.
func worth(j *Judge) float64 {
	if mean, known := j.memory.SiteHistory.Score("http://a.example/0/x"); known {
		return mean
	}
	return silent
}

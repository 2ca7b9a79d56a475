package score

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

func TestExamples(t *testing.T) {
	about := crawl.Topic{Threshold: 0.5, Examples: []crawl.Example{{Text: "Ravens and a crow, ravens"}, {URL: "http://a.example/"}, {Text: "fox"}}}
	s := scorer(t, about, crawl.Weights{Document: 1}, nil)
	list := s.Examples([]topic.Sample{
		{URL: "a", Example: true, PageFeatures: []byte("a")},
		{URL: "b", Score: 0.9, PageFeatures: []byte("b")},
		{URL: "c", Score: 0.9}, // it has no page features
		{URL: "d", Score: 0.5, PageFeatures: []byte("d")},
		{URL: "e", Score: 0.499, PageFeatures: []byte("e")},
	})
	if len(list) != 3 || string(list[2]) != "a" {
		t.Fatalf("examples %q", list)
	}
	views := order.DecodeViews(list[:2])
	if len(views) != 2 {
		t.Fatalf("%d of the texts can be read", len(views))
	}
	for i, words := range []map[string]float64{{"raven": 2, "crow": 1}, {"fox": 1}} {
		seen := views[i][0]
		if len(seen) != len(words) || len(views[i][1]) > 0 || len(views[i][2]) > 0 {
			t.Errorf("text %d is seen as %v", i, views[i])
		}
		for word, n := range words {
			at := -1
			for j := range seen {
				if seen[j].ID == text.Hash(word) {
					at = j
				}
			}
			if at < 0 || n > 1 && seen[at].Weight <= seen[1-at].Weight {
				t.Errorf("text %d: %s is seen as %v", i, word, seen)
			}
		}
	}

	var many []topic.Sample
	for i := range 150 {
		many = append(many, topic.Sample{Example: true, PageFeatures: []byte{byte(i)}})
	}
	if list := s.Examples(many); len(list) != maxExamples || list[maxExamples-1][0] != maxExamples-3 {
		t.Errorf("%d examples", len(list))
	}
	if list := scorer(t, ravens, crawl.Weights{}, nil).Examples(nil); len(list) > 0 {
		t.Errorf("no examples are %q", list)
	}
}

const birds = `@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://b.example/raven> skos:prefLabel "raven", "Raben"@de ; skos:altLabel "corbie", "corvus corax" ; skos:broader <http://b.example/bird> .
<http://b.example/bird> skos:prefLabel "birds" .
`

// written writes a file into a folder of the test.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// ranked checks whether the link of one page has a higher priority than that of another; if not, they must be equal.
func ranked(t *testing.T, o order.Order, more, less *order.Page, want bool) {
	t.Helper()
	a, b := o.Judge(more, nil).Links[0].Priority, o.Judge(less, nil).Links[0].Priority
	if want && a <= b || !want && a != b {
		t.Errorf("%T: priorities %g and %g, they should differ: %v", o, a, b, want)
	}
}

// seen is a page with a text and one link, as an order sees it.
func seen(t *testing.T, text, anchor string) *order.Page {
	t.Helper()
	s := scorer(t, ravens, crawl.Weights{Document: 1}, nil)
	p := parsed(crawl.Page{URL: "http://a.example/", Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{link("http://a.example/1", anchor)}})
	return s.Page(p, Context{View: true}).View
}

// TestOrder: every strategy has its order, or none if the frontier has it or links are ordered by their scores.
func TestOrder(t *testing.T) {
	file := written(t, "birds.ttl", birds)
	learned := &topic.Model{Paths: []topic.Path{
		{Terms: []text.Term{{Text: "raven", Weight: 2}, {Text: "crow", Weight: 1}}}, {Terms: []text.Term{{Text: "raven", Weight: 1}}}, {Terms: []text.Term{{Text: "bird", Weight: 1}}, Level: 1, Next: []int{0, 1}},
		{Terms: []text.Term{{Text: "fox", Weight: 1}}, Level: 3}, {Terms: []text.Term{{Text: "hare", Weight: 1}}, Level: 3, Next: []int{3}},
	}}
	type by struct {
		order           string
		content, anchor bool // what counts
		synonym, near   bool // of content
	}
	of := map[string]by{
		crawl.StrategyFused:         {order: "<nil>"},
		crawl.StrategyWeighted:      {order: "<nil>"},
		crawl.StrategyPlaces:        {order: "<nil>"},
		crawl.StrategyBreadth:       {order: "order.Breadth"},
		crawl.StrategyContent:       {order: "*order.Best", content: true},
		crawl.StrategyAnchor:        {order: "*order.Best", anchor: true},
		crawl.StrategyContentAnchor: {order: "*order.Best", content: true, anchor: true},
		crawl.StrategyNBest:         {order: "*order.Best", content: true, anchor: true},
		crawl.StrategyShark:         {order: "*order.Shark", content: true, anchor: true},
		crawl.StrategySynonyms:      {order: "*order.Semantic", content: true, anchor: true, synonym: true},
		crawl.StrategyBroader:       {order: "*order.Semantic", content: true, anchor: true, synonym: true, near: true},
		crawl.StrategyHMM:           {order: "*order.HMM", content: true},
		crawl.StrategyHMMContent:    {order: "*order.HMM", content: true},
		crawl.StrategyHMMAnchor:     {order: "*order.HMM", content: true, anchor: true},
	}
	if len(of) != len(crawl.Strategies) {
		t.Errorf("%d strategies are known here, of %d", len(of), len(crawl.Strategies))
	}
	for _, strategy := range crawl.Strategies {
		want, known := of[strategy]
		if !known {
			t.Errorf("%s is not known here", strategy)
		}
		o, err := scorer(t, ravens, crawl.Weights{Document: 1}, learned).Order(crawl.Order{Strategy: strategy, Thesaurus: file, Seed: 3}, "en")
		if got := fmt.Sprintf("%T", o); err != nil || got != want.order {
			t.Errorf("%s has the order %s, %v, want %s", strategy, got, err, want.order)
			continue
		}
		if o == nil {
			continue
		}
		t.Run(strategy, func(t *testing.T) {
			ranked(t, o, seen(t, "raven crow", "hare"), seen(t, "fox", "hare"), want.content)
			ranked(t, o, seen(t, "fox", "raven"), seen(t, "fox", "hare"), want.anchor)
			if want.order == "*order.Best" || want.order == "*order.Semantic" {
				ranked(t, o, seen(t, "corbie", "hare"), seen(t, "fox", "hare"), want.synonym)
				ranked(t, o, seen(t, "bird", "hare"), seen(t, "fox", "hare"), want.near)
				ranked(t, o, seen(t, "corvus", "hare"), seen(t, "fox", "hare"), false) // one word of a synonym of two words is not enough
				ranked(t, o, seen(t, "corax", "hare"), seen(t, "fox", "hare"), false)
			}
		})
	}
}

// TestNoOrder: a strategy that is trained has no order before there are pages to train with.
func TestNoOrder(t *testing.T) {
	for _, strategy := range []string{crawl.StrategyHMM, crawl.StrategyHMMContent, crawl.StrategyHMMAnchor} {
		for _, learned := range []*topic.Model{nil, {Terms: []text.Term{{Text: "raven", Weight: 1}}}} {
			if o, err := scorer(t, ravens, crawl.Weights{Document: 1}, learned).Order(crawl.Order{Strategy: strategy}, "en"); o != nil || err != nil {
				t.Errorf("%s, untrained: %T, %v", strategy, o, err)
			}
		}
	}
	o, err := scorer(t, crawl.Topic{}, crawl.Weights{Document: 1}, nil).Order(crawl.Order{Strategy: crawl.StrategyBreadth}, "en")
	if _, is := o.(order.Breadth); !is || err != nil {
		t.Errorf("breadth first without a topic: %T, %v", o, err)
	}
}

// TestOrderOfLanguage: topic and thesaurus are those of the page's language.
func TestOrderOfLanguage(t *testing.T) {
	file := written(t, "birds.ttl", birds)
	s := scorer(t, crawl.Topic{Keywords: []string{"corbie"}}, crawl.Weights{Document: 1}, nil)
	page := func(word string) *order.Page {
		return &order.Page{Text: text.NewHashedVector(s.dictionary.Vector(word, "de")), Links: make([]order.Link, 1)}
	}
	for lang, found := range map[string]bool{"en": false, "de": true} {
		o, err := s.Order(crawl.Order{Strategy: crawl.StrategySynonyms, Thesaurus: file}, lang)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Judge(page("Raben"), nil).Links[0].Priority > 0; got != found {
			t.Errorf("%s: a page of Raben is found: %v", lang, got)
		}
	}
}

func TestCheckThesaurus(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, strategy := range crawl.Strategies {
		needs := strategy == crawl.StrategySynonyms || strategy == crawl.StrategyBroader
		err := CheckThesaurus(crawl.Order{Strategy: strategy, Thesaurus: missing})
		if (err != nil) != needs {
			t.Errorf("%s without a thesaurus: %v", strategy, err)
		}
		if needs && (!strings.HasPrefix(err.Error(), "order.thesaurus: ") || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "wordnet-base")) {
			t.Errorf("the fault does not name the field and the fix: %v", err)
		}
		if err := CheckThesaurus(crawl.Order{Strategy: strategy, Thesaurus: written(t, "birds.ttl", birds)}); err != nil {
			t.Errorf("%s with a thesaurus: %v", strategy, err)
		}
		if _, err := scorer(t, ravens, crawl.Weights{Document: 1}, nil).Order(crawl.Order{Strategy: strategy, Thesaurus: missing}, "en"); (err != nil) != needs {
			t.Errorf("the order of %s without a thesaurus: %v", strategy, err)
		}
	}
	if err := CheckThesaurus(crawl.Order{Strategy: crawl.StrategySynonyms, Thesaurus: written(t, "birds.ttl", "no triples")}); err == nil || !strings.HasPrefix(err.Error(), "order.thesaurus: ") {
		t.Errorf("a broken thesaurus: %v", err)
	}
}

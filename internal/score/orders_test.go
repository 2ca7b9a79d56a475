package score

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// sampled makes samples "name score term", with a * behind the name of an example.
func sampled(lines ...string) (list []Sample) {
	for _, line := range lines {
		s := Sample{}
		var term string
		if _, err := fmt.Sscan(line, &s.URL, &s.Score, &term); err != nil {
			panic(err)
		}
		s.URL, s.Example = strings.CutSuffix(s.URL, "*")
		s.Terms = []Term{{term, 1}}
		list = append(list, s)
	}
	return list
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []Sample
		links   string // "a>b c" and '|' between
		want    string // "URL's term level: next", by the order of the list
	}{
		{"none", nil, "", ""},
		{"none of the topic", sampled("a 0.1 x", "b 0.2 y"), "a>b", ""},
		{
			"levels by distance", sampled("a 0.9 a", "b 0.1 b", "c 0.1 c", "d 0.1 d", "e 0.1 e", "f 0.1 f"), "b>a|c>b|d>c|e>d|f>a",
			"a 0:|b 1: a|f 1: a|c 2: b|d 3: c", // e is farther than levels go
		},
		{"the shortest way", sampled("a 0.9 a", "b 0.1 b", "c 0.1 c"), "b>a|c>b a", "a 0:|b 1: a|c 1: b a"},
		{"the threshold, and examples", sampled("a 0.5 a", "b 0.499 b", "c* 0 c"), "", "a 0:|c 0:"},
		{"a circle, and a page that links to itself", sampled("a 0.9 a", "b 0.1 b"), "a>b a|b>a", "a 0: b a|b 1: a"},
		{"pages of the topic that link", sampled("a 0.9 a", "b 0.8 b"), "a>b", "a 0: b|b 0:"},
		{"links to what is no sample, and of it", sampled("a 0.9 a", "b 0.1 b"), "a>x|x>a|b>x a", "a 0:|b 1: a"},
	} {
		links := map[string][]string{}
		for _, from := range strings.Split(c.links, "|") {
			url, to, _ := strings.Cut(from, ">")
			links[url] = strings.Fields(to)
		}
		list := Paths(c.samples, links, 0.5)
		var lines []string
		for _, p := range list {
			line := fmt.Sprintf("%s %d:", p.Terms[0].Text, p.Level)
			for _, n := range p.Next {
				line += " " + list[n].Terms[0].Text
			}
			lines = append(lines, line)
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPathsAreBounded: of each level so many, the best first; the same each time.
func TestPathsAreBounded(t *testing.T) {
	var list []Sample
	links := map[string][]string{}
	for i := range 100 {
		list = append(list, Sample{URL: fmt.Sprint("topic", i), Score: 0.9, Terms: []Term{{fmt.Sprint(i), 1}}}, Sample{URL: fmt.Sprint("way", i)})
		links[fmt.Sprint("way", i)] = []string{fmt.Sprint("topic", i%10), fmt.Sprint("topic", (i+1)%10)}
	}
	first := Paths(list, links, 0.5)
	var by [order.Levels]int
	for i, p := range first {
		if by[p.Level]++; p.Level == 0 && p.Terms[0].Text != fmt.Sprint(i) {
			t.Errorf("page %d of the topic is %v", i, p.Terms)
		}
	}
	if by != [order.Levels]int{maxPaths, maxPaths} {
		t.Errorf("%v pages by level", by)
	}
	for range 10 {
		if again := Paths(list, links, 0.5); !reflect.DeepEqual(again, first) {
			t.Fatal("the same crawl gives other paths")
		}
	}
}

func TestExamples(t *testing.T) {
	topic := crawl.Topic{Threshold: 0.5, Examples: []crawl.Example{{Text: "Ravens and a crow, ravens"}, {URL: "http://a.example/"}, {Text: "fox"}}}
	s := scorer(t, topic, crawl.Weights{Document: 1}, nil)
	list := s.Examples([]Sample{
		{URL: "a", Example: true, Seen: []byte("a")},
		{URL: "b", Score: 0.9, Seen: []byte("b")},
		{URL: "c", Score: 0.9}, // of it nothing was seen
		{URL: "d", Score: 0.5, Seen: []byte("d")},
		{URL: "e", Score: 0.499, Seen: []byte("e")},
	})
	if len(list) != 5 || string(list[2]) != "a" || string(list[3]) != "b" || string(list[4]) != "d" {
		t.Fatalf("examples %q", list)
	}
	views := order.DecodeViews(list[:2])
	if len(views) != 2 {
		t.Fatalf("%d of the texts can be read", len(views))
	}
	for i, words := range []map[string]float64{{"raven": 2, "crow": 1}, {"fox": 1}} {
		text := views[i][0]
		if len(text) != len(words) || len(views[i][1]) > 0 || len(views[i][2]) > 0 {
			t.Errorf("text %d is seen as %v", i, views[i])
		}
		for word, n := range words {
			at := -1
			for j := range text {
				if text[j].ID == order.Hash(word) {
					at = j
				}
			}
			if at < 0 || n > 1 && text[at].W <= text[1-at].W {
				t.Errorf("text %d: %s is seen as %v", i, word, text)
			}
		}
	}

	var many []Sample
	for i := range 150 {
		many = append(many, Sample{Score: 0.9, Seen: []byte{byte(i)}})
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

// ranked states whether the link of one page comes before that of another; if not, they come together.
func ranked(t *testing.T, o order.Order, more, less *order.Page, want bool) {
	t.Helper()
	a, b := o.Judge(more, nil).Links[0].Priority, o.Judge(less, nil).Links[0].Priority
	if want && a <= b || !want && a != b {
		t.Errorf("%T: priorities %g and %g, they should differ: %v", o, a, b, want)
	}
}

// seen is what an order sees of a page of a text with one link.
func seen(t *testing.T, text, anchor string) *order.Page {
	t.Helper()
	s := scorer(t, ravens, crawl.Weights{Document: 1}, nil)
	p := &crawl.Page{URL: "http://a.example/", Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{link("http://a.example/1", anchor)}}
	return s.Page(p, Context{View: true}).View
}

// TestOrder: every strategy has its order, or none because the frontier or the scores are it.
func TestOrder(t *testing.T) {
	file := written(t, "birds.ttl", birds)
	learned := &Learned{Paths: []Path{
		{Terms: []Term{{"raven", 2}, {"crow", 1}}}, {Terms: []Term{{"raven", 1}}}, {Terms: []Term{{"bird", 1}}, Level: 1, Next: []int{0, 1}},
		{Terms: []Term{{"fox", 1}}, Level: 3}, {Terms: []Term{{"hare", 1}}, Level: 3, Next: []int{3}},
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
		crawl.StrategyNBest:         {order: "order.Batch", content: true, anchor: true},
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
				ranked(t, o, seen(t, "corvus", "hare"), seen(t, "fox", "hare"), false) // one word of two says nothing
				ranked(t, o, seen(t, "corax", "hare"), seen(t, "fox", "hare"), false)
			}
		})
	}
}

// TestNoOrder: a model without pages to train with waits for them.
func TestNoOrder(t *testing.T) {
	for _, strategy := range []string{crawl.StrategyHMM, crawl.StrategyHMMContent, crawl.StrategyHMMAnchor} {
		for _, learned := range []*Learned{nil, {Terms: []Term{{"raven", 1}}}} {
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
		return &order.Page{Text: order.NewTerms(map[string]float64{stem(word, "de"): 1}), Links: make([]order.Link, 1)}
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
			t.Errorf("the fault neither names the field nor the mend: %v", err)
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

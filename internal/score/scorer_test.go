package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

func scorer(t testing.TB, about crawl.Topic, weights crawl.Weights, learned *topic.Model) *Scorer {
	t.Helper()
	return remembering(t, about, weights, learned, NewDictionary(), topic.Memory{})
}

func remembering(t testing.TB, about crawl.Topic, weights crawl.Weights, learned *topic.Model, a *Dictionary, m topic.Memory) *Scorer {
	t.Helper()
	s, err := New(crawl.Definition{Topic: about, Weights: weights}, learned, a, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// said makes parts of names and scores, alternately.
func said(list ...any) (parts crawl.Parts) {
	for i := 0; i < len(list); i += 2 {
		p := crawl.Part{Name: crawl.PartName(list[i].(string))}
		switch x := list[i+1].(type) {
		case int:
			p.Score = float64(x)
		case float64:
			p.Score = x
		default:
			panic(x)
		}
		parts = append(parts, p)
	}
	return parts
}

// alike reports whether two lists have the same parts with the same scores, in the same order.
func alike(a, b crawl.Parts) bool {
	return slices.EqualFunc(a, b, func(x, y crawl.Part) bool { return x.Name == y.Name && near(x.Score, y.Score) })
}

// TestCosine compares with values computed by hand from Eq. 1: the dot product over the product of the norms, with the frequencies
// of the text damped to 1 + ln n.
func TestCosine(t *testing.T) {
	keywords := func(k ...string) crawl.Topic { return crawl.Topic{Keywords: k} }
	for _, c := range []struct {
		name    string
		topic   crawl.Topic
		learned *topic.Model
		text    string
		want    float64
	}{
		{"the same", keywords("raven", "crow"), nil, "raven crow", 1},
		{"as often", keywords("raven", "crow"), nil, "crows ravens crow raven", 1},
		{"one of two", keywords("raven", "crow"), nil, "raven", 1 / math.Sqrt2},
		{"none", keywords("raven", "crow"), nil, "fox", 0},
		// (1.6931, 0, 1) with (1, 1, 0)/√2: 1.6931 / √(2 · (1.6931² + 1)).
		{"two ravens, a fox", keywords("raven", "crow"), nil, "raven raven fox", 0.608845},
		{"no text", keywords("raven"), nil, "", 0},
		{"stop words alone", keywords("raven"), nil, "the and of", 0},
		{"no topic", crawl.Topic{}, nil, "raven", silent},
		// An alias counts half: topic (1, ½), norm √1.25.
		{"entity", crawl.Topic{Entities: []crawl.Entity{{Name: "Muninn", Aliases: []string{"Huginn"}}}}, nil, "Huginn", 0.5 / math.Sqrt(1.25)},
		// A word counts twice at most: topic (2, 1), norm √5.
		{"a word of many names", keywords("raven nest", "raven", "ravens", "raven"), nil, "raven", 2 / math.Sqrt(5)},
		// An example text of norm 1 counts ¾: topic (1, ¾), norm 1.25.
		{"example", crawl.Topic{Keywords: []string{"raven"}, Examples: []crawl.Example{{Text: "fox"}}}, nil, "fox", 0.75 / 1.25},
		{"example by URL says nothing yet", crawl.Topic{Keywords: []string{"raven"}, Examples: []crawl.Example{{URL: "http://fox.example/"}}}, nil, "fox", 0},
		// What was learned, (3, 4)/5, counts ¾ too: topic (1, .45, .6), norm √(1 + .5625).
		{"learned", keywords("raven"), &topic.Model{Terms: []text.Term{{Text: "fox", Weight: 3}, {Text: "hare", Weight: 4}}}, "hare", 0.6 / math.Sqrt(1.5625)},
	} {
		s := scorer(t, c.topic, crawl.Weights{}, c.learned)
		if got := s.similarity(s.dictionary.Vector(c.text, "en"), "en"); !near(got, c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

func TestAverage(t *testing.T) {
	all := crawl.Weights{Document: 1, Paragraph: 1, Anchor: 2, URL: 1, Helper: 1}
	for _, c := range []struct {
		weights crawl.Weights
		parts   crawl.Parts
		inherit float64
		want    float64
	}{
		{all, said("document", 0.5, "paragraph", 0.2, "anchor", 0.8, "url", 1, "helper", 0.1), 0, (0.5 + 0.2 + 1.6 + 1 + 0.1) / 6},
		{all, said("document", 0.5, "anchor", 0.8), 0, (0.5 + 1.6) / 3},
		{all, said("document", 0), 1, 0}, // 0 is a score
		{all, nil, 0.7, 0.7},
		{crawl.Weights{URL: 1}, said("document", 1, "paragraph", 1, "anchor", 1, "helper", 1), 0.4, 0.4},
		{crawl.Weights{URL: 1}, said("document", 1, "paragraph", 1, "anchor", 1, "url", 0.3, "helper", 1), 0.4, 0.3},
		{crawl.Weights{}, said("document", 1, "paragraph", 1, "anchor", 1, "url", 1, "helper", 1), 2, 1},
		{crawl.Weights{}, said(), math.NaN(), 0},
		{all, said("helper", 7), 0, 1},
		{all, said("unheard", 1, "url", 0.5), 0, 0.5},
		// 1·0.5 + 2·0.25 + 0.5·1 over 3.5.
		{crawl.Weights{Entities: 1, Spam: 2, Tokens: 0.5, Social: 9}, said("tokens", 1, "entities", 0.5, "spam", 0.25), 0, 1.5 / 3.5},
	} {
		if got := scorer(t, crawl.Topic{}, c.weights, nil).average(c.parts, c.inherit); !near(got, c.want) {
			t.Errorf("%+v of %+v, inherited %g: %g, want %g", c.weights, c.parts, c.inherit, got, c.want)
		}
	}
}

// parsed is a page without findings of the helper.
func parsed(p crawl.Page) *crawl.Parsed { return &crawl.Parsed{Page: p} }

func TestPage(t *testing.T) {
	about := crawl.Topic{Keywords: []string{"raven"}, URLPatterns: []crawl.URLPattern{{Pattern: "*raven*", Score: 0.5}, {Pattern: "re:ravens$", Score: 0.9}}}
	s := scorer(t, about, crawl.Weights{Document: 1, Paragraph: 1, Anchor: 2, URL: 1, Helper: 1}, nil)
	p := parsed(crawl.Page{
		Language: "en", Title: "Ravens", Blocks: []string{"raven fox", "hare"}, // 3 + 1 ravens, a fox, a hare
		Links: []crawl.Outlink{
			{URL: "http://a.example/", Hop: crawl.HopLink, Anchor: "raven", Block: 0},
			{URL: "http://a.example/ravens", Hop: crawl.HopLink, Anchor: "hare", Block: 1, LinkFindings: crawl.LinkFindings{Prior: 0.25}},
			{URL: "http://a.example/raven", Hop: crawl.HopLink, Block: -1},
			{URL: "http://a.example/", Hop: crawl.HopLink, Block: 2},
			{URL: "http://a.example/a.png", Hop: crawl.HopEmbed, Anchor: "raven", Block: 0},
			{URL: "http://a.example/b", Hop: crawl.HopRedirect, Anchor: "raven", Block: 0},
			{URL: "http://a.example/ravens", Hop: crawl.HopSitemap, Block: -1},
			{URL: "mailto:raven", Hop: crawl.HopLink, Block: -1},
			{URL: "http://a.example/b.png", Hop: crawl.HopSpeculative, Block: -1},
		},
	})
	// (1 + ln 4, 1, 1) with (1, 0, 0): 2.386294 / √(2.386294² + 2).
	doc := 0.8602736
	half := 1 / math.Sqrt2
	want := []struct {
		parts crawl.Parts
		score float64
	}{
		{said("document", doc, "paragraph", half, "anchor", 1), (doc + half + 2) / 4},
		{said("document", doc, "paragraph", 0, "anchor", 0, "url", 0.9, "helper", 0.25), (doc + 0.9 + 0.25) / 6},
		{said("document", doc, "url", 0.5), (doc + 0.5) / 2},
		{said("document", doc), doc},
		{said("document", doc), doc},
		{said(), 0.7},
		{said("url", 0.9), 0.9},
		{said("document", doc), doc},
		{said("document", doc), doc / 2},
	}
	asked := Context{Inherit: 0.7, Terms: true}
	scored := s.Page(p, asked)
	if v := scored.Terms; !reflect.DeepEqual(v, text.Vector{"raven": 4, "fox": 1, "hare": 1}) || !near(scored.Verdict.Score, doc) {
		t.Errorf("vector %v, score %g, want %g", v, scored.Verdict.Score, doc)
	}
	if len(scored.Verdict.Links) != len(p.Links) {
		t.Fatalf("%d verdicts of %d links", len(scored.Verdict.Links), len(p.Links))
	}
	for i, l := range scored.Verdict.Links {
		if !alike(l.Parts, want[i].parts) || !near(l.Score, want[i].score) {
			t.Errorf("link %d: %v, %g, want %+v", i, l.Parts, l.Score, want[i])
		}
	}

	empty := parsed(crawl.Page{Language: "en", Links: []crawl.Outlink{{URL: "http://a.example/", Hop: crawl.HopLink, Block: -1}}})
	if v := s.Page(empty, asked).Verdict; v.Score != silent || v.Links[0].Score != 0.7 {
		t.Errorf("a page without text: %g, its link %g", v.Score, v.Links[0].Score)
	}
	p.Links[0].Anchor = "raven"
	if v := scorer(t, crawl.Topic{}, crawl.Weights{Document: 1, Anchor: 1}, nil).Page(p, asked).Verdict; v.Score != silent || v.Links[0].Score != 0.7 {
		t.Errorf("without a topic: %g, its link %g", v.Score, v.Links[0].Score)
	}
}

func TestLanguages(t *testing.T) {
	s := scorer(t, crawl.Topic{Keywords: []string{"Raben", "東京", "corbeaux"}}, crawl.Weights{Document: 1}, nil)
	for _, c := range []struct {
		lang, text string
		found      bool
	}{
		{"de", "Der Rabe", true}, {"de", "Die Raben", true}, {"en", "Rabe", false}, {"ja", "東京タワー", true}, {"zh", "京東", false},
		{"fr", "un corbeau", true}, {"en", "corbeau", false},
	} {
		p := parsed(crawl.Page{Language: c.lang, Blocks: []string{c.text}})
		if score := s.Page(p, Context{}).Verdict.Score; (score > 0) != c.found {
			t.Errorf("%s %q scores %g", c.lang, c.text, score)
		}
	}
}

// TestScoresAreStable: the same page has the same score to the last digit, although maps have no order, and
// always in [0,1].
func TestScoresAreStable(t *testing.T) {
	about := crawl.Topic{Keywords: strings.Fields(rambling(1, 30)), Examples: []crawl.Example{{Text: rambling(2, 200)}}}
	p := bench(3)
	first := ""
	for range 30 {
		s := scorer(t, about, crawl.Weights{Document: 1, Paragraph: 0.3, Anchor: 2}, nil)
		v := s.Page(p, Context{Inherit: 0.5}).Verdict
		said := fmt.Sprint(v.Score)
		for _, l := range v.Links {
			said += fmt.Sprint(" ", l.Score)
			if l.Score < 0 || l.Score > 1 {
				t.Fatalf("a link scores %g", l.Score)
			}
		}
		if first == "" {
			first = said
		}
		if said != first {
			t.Fatalf("the same page scores\n%s\nand\n%s", first, said)
		}
	}
}

func TestBadPattern(t *testing.T) {
	_, err := New(crawl.Definition{Topic: crawl.Topic{URLPatterns: []crawl.URLPattern{{Pattern: "*"}, {Pattern: "re:("}}}}, nil, NewDictionary(), topic.Memory{})
	if err == nil || !strings.Contains(err.Error(), "topic.url_patterns[1]") {
		t.Errorf("error %v", err)
	}
}

// rambling is text of n words of which a few are frequent, as in a language.
func rambling(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	syllables := strings.Fields("ra ven mu nin crow fe ather nest wing fly sto ry ar chive web hi gin")
	var b strings.Builder
	for range n {
		rank := int(math.Pow(3000, random.Float64()))
		for ; rank > 0; rank /= len(syllables) {
			b.WriteString(syllables[rank%len(syllables)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// bench is a page of 30 KB of text with 56 links.
func bench(seed uint64) *crawl.Parsed {
	p := parsed(crawl.Page{Language: "en", Title: rambling(seed, 6)})
	for n := 0; n < 30_000; {
		p.Blocks = append(p.Blocks, rambling(seed+uint64(n), 70))
		n += len(p.Blocks[len(p.Blocks)-1])
	}
	for i := range 56 {
		p.Links = append(p.Links, crawl.Outlink{URL: fmt.Sprintf("http://a.example/%d", i), Hop: crawl.HopLink, Anchor: rambling(uint64(i), 4), Block: i % len(p.Blocks)})
	}
	return p
}

func BenchmarkPage(b *testing.B) {
	s := scorer(b, crawl.Topic{Keywords: strings.Fields(rambling(1, 20))}, crawl.Weights{Document: 1, Paragraph: 1, Anchor: 2}, nil)
	p := bench(7)
	s.Page(p, Context{View: true})
	b.ReportAllocs()
	for b.Loop() {
		s.Page(p, Context{View: true})
	}
}

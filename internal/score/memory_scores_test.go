package score

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// TestWeighedScore scores a page by topics of two terms each. From the 21st page on, terms have weights by their document frequency in
// the earlier pages: 5 have raven (ln 5 = 1.609438), 20 have fox (ln 2 = 0.693147), none has crow (ln 21 = 3.044522).
func TestWeighedScore(t *testing.T) {
	a := NewDictionary()
	m := topic.Memory{DocumentFrequencies: topic.NewDocumentFrequencies(a.Vocabulary, nil)}
	s := remembering(t, ravens, weigh(t, 1, "document", "anchor", "paragraph"), nil, a, m)
	of := func(text string) *crawl.Parsed {
		return parsed(crawl.Page{Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{{URL: "http://a.example/", Hop: crawl.HopLink, Anchor: "crow fox", Block: 0}}})
	}
	page := func(text string) crawl.Verdict {
		scored := s.Page(of(text), Context{})
		m.Observe(scored.Observation)
		return scored.Verdict
	}
	for range 3 {
		page("") // of no text: it does not count
	}
	for i := range 20 {
		text, want := "fox", 0.0
		if i < 5 {
			text, want = "raven fox", 0.5
		}
		if p := page(text); !near(p.Score, want) {
			t.Errorf("page %d scores %g, want %g", i, p.Score, want)
		}
	}
	// 1.609438² / (√(1.609438² + 3.044522²) · √(1.609438² + 0.693147²)); of the anchor 3.044522² / (3.443749 · √(3.044522² + 0.693147²)).
	const document, anchor = 0.429235, 0.862014
	p := page("raven fox")
	if !near(p.Score, document) {
		t.Errorf("the page scores %g, want %g", p.Score, document)
	}
	if got := p.Links[0].Parts; !alike(got, said("document", document, "paragraph", document, "anchor", anchor)) {
		t.Errorf("its link: %v", got)
	}
	// (1 + ln 3) ravens: 2.098612 · 1.609438 = 3.377586, of which with the topic 0.467351, and a fox.
	if p := page("raven raven raven fox"); !near(p.Score, 0.457810) {
		t.Errorf("a page of three ravens scores %g", p.Score)
	}
	if got := scorer(t, ravens, weigh(t, 1, "document"), nil).Page(of("raven fox"), Context{}).Verdict.Score; !near(got, 0.5) {
		t.Errorf("without a background the page scores %g", got)
	}
}

// TestScoresAfterMove: a page scores the same with a new lexicon.
func TestScoresAfterMove(t *testing.T) {
	a := NewDictionary()
	b := topic.NewDocumentFrequencies(a.Vocabulary, nil)
	for i := range 20 {
		counted := text.NewTally(a.Lexicon())
		counted.Count([]string{"fox", "raven fox hare", "crow", "hare fox"}[i%4], "en", 1)
		b.Add(a.Lexicon(), counted.IDs())
	}
	s := remembering(t, ravens, weigh(t, 1, "document"), nil, a, topic.Memory{DocumentFrequencies: b})
	p := parsed(crawl.Page{Language: "en", Blocks: []string{"hare raven hare fox"}})
	before := s.Page(p, Context{}).Verdict.Score
	a.Renew()
	if got := s.Page(p, Context{}).Verdict.Score; got != before || before <= 0 || before >= 1 {
		t.Errorf("%g, and before %g", got, before)
	}
}

// TestAnyOrder: the same pages in any order and grouping give the same document frequencies.
func TestAnyOrder(t *testing.T) {
	var texts []string
	for i := range uint64(80) {
		texts = append(texts, rambling(i, 40))
	}
	build := func(seed uint64) *topic.DocumentFrequencies {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		a := NewDictionary()
		b := topic.NewDocumentFrequencies(a.Vocabulary, &topic.Model{Pages: 10, DocumentFrequencies: []text.Term{{Text: "ra", Weight: 7}, {Text: "ven", Weight: 2}}})
		m := topic.Memory{DocumentFrequencies: b}
		s := remembering(t, ravens, weigh(t, 1, "document"), nil, a, m)
		for i, text := range texts {
			m.Observe(s.Page(parsed(crawl.Page{Language: "en", Blocks: []string{text}}), Context{}).Observation)
			if seed > 0 && i == int(seed)*7 {
				a.Renew()
			}
		}
		return b
	}
	pages, df := counts(build(0))
	if pages != 90 || len(df) < 100 || df["ra"] < 7 {
		t.Fatalf("%g pages of %d terms", pages, len(df))
	}
	for seed := range uint64(8) {
		p, d := counts(build(seed + 1))
		if p != pages || !maps.Equal(d, df) {
			t.Fatalf("order %d: %g pages of %d terms, want %g of %d", seed, p, len(d), pages, len(df))
		}
	}
}

// TestManyAtOnce: concurrent scorers share words and memory, while lexica are replaced.
func TestManyAtOnce(t *testing.T) {
	a := NewDictionary()
	m := topic.Memory{DocumentFrequencies: topic.NewDocumentFrequencies(a.Vocabulary, nil), SiteHistory: topic.NewSiteHistory()}
	s := remembering(t, ravens, weigh(t, 1, crawl.PartNames...), nil, a, m)
	const workers, each = 4, 60
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0.0
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				p := parsed(crawl.Page{URL: fmt.Sprintf("http://a.example/%d", i), Language: "en", Blocks: []string{"raven " + rambling(uint64(w*each+i), 20)}, Links: []crawl.Outlink{link("http://a.example/raven", "crow")}})
				scored := s.Page(p, Context{View: i%2 == 0, Terms: true})
				v := scored.Verdict
				if v.Score <= 0 || v.Score > 1 || v.Links[0].Score <= 0 || v.Links[0].Score > 1 {
					t.Errorf("a page scores %g, its link %g", v.Score, v.Links[0].Score)
				}
				if i%20 == 10 && w == 0 {
					a.Renew()
				}
				m.Observe(scored.Observation)
				mu.Lock()
				sum += v.Score
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if pages, df := counts(m.DocumentFrequencies); pages != workers*each || df["raven"] != workers*each {
		t.Errorf("%g pages, %g with ravens, want %d", pages, df["raven"], workers*each)
	}
	if mean, known := m.SiteHistory.Score("http://a.example/"); !known || !near(mean, sum/(workers*each)) {
		t.Errorf("the host is worth %g, want the mean of its pages, %g", mean, sum/(workers*each))
	}
}

// TestHistory: pages are remembered with their document scores, and those without one are not.
func TestHistory(t *testing.T) {
	m := topic.Memory{SiteHistory: topic.NewSiteHistory()}
	s := remembering(t, ravens, weigh(t, 1, "history"), nil, NewDictionary(), m)
	page := func(url, text string) float64 {
		p := parsed(crawl.Page{URL: url, Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{{URL: "http://a.example/raven/x", Hop: crawl.HopSitemap, Block: -1}}})
		scored := s.Page(p, Context{Inherit: 0.123})
		m.Observe(scored.Observation)
		if got, spoke := scored.Verdict.Links[0].Parts.Of("history"); spoke {
			return got
		}
		return silent
	}
	for i, c := range []struct {
		url, text string
		want      float64 // of the link, before the page itself is known
	}{
		{"http://a.example/raven/1", "raven crow", silent}, // 1
		{"http://a.example/raven/2", "fox", silent},        // 0
		{"http://a.example/raven/3", "", silent},           // of no text nothing is said
		{"http://a.example/1", "raven crow", silent},       // 1
		{"http://a.example/raven/4", "raven crow", 2.0 / 3},
		{"http://a.example/2", "fox", 2.0 / 3}, // three pages of the folder: 1, 0, 1
		{"http://a.example/3", "fox", 2.0 / 3},
		{"http://a.example/raven/5", "fox", 2.0 / 3},
		{"http://b.example/", "fox", 0.5},
	} {
		if got := page(c.url, c.text); !near(got, c.want) {
			t.Errorf("before page %d, %s: %g, want %g", i, c.url, got, c.want)
		}
	}
	// A new scorer remembers it; one without memory is silent.
	link := crawl.Outlink{URL: "http://a.example/other/1", Hop: crawl.HopLink, Block: -1}
	p := parsed(crawl.Page{URL: "http://c.example/", Links: []crawl.Outlink{link}})
	again := remembering(t, ravens, weigh(t, 1, "history"), nil, NewDictionary(), m).Page(p, Context{}).Verdict
	if got := again.Links[0].Score; !near(got, 3.0/7) { // 1, 0, 1, 1, 0, 0, 0
		t.Errorf("another scorer with the same memory: %g", got)
	}
	without := scorer(t, ravens, weigh(t, 1, "history"), nil).Page(p, Context{Inherit: 0.123}).Verdict
	if len(without.Links[0].Parts) > 0 || without.Links[0].Score != 0.123 {
		t.Errorf("without memory: %v, %g", without.Links[0].Parts, without.Links[0].Score)
	}
}

func TestSample(t *testing.T) {
	about := crawl.Topic{Keywords: []string{"raven"}, Examples: []crawl.Example{{URL: "HTTP://Example.org:80"}, {Text: "raven"}}}
	s := scorer(t, about, crawl.Weights{Document: 1}, nil)
	v := text.Vector{}
	for i := range 200 {
		v[fmt.Sprintf("t%03d", i)] = float64(i % 150)
	}
	got := s.Sample(&crawl.Page{URL: "http://example.org/"}, &crawl.Verdict{Score: silent}, v)
	if !got.Example || got.Score != 0 || len(got.Terms) != 80 || got.Terms[0] != (text.Term{Text: "t149", Weight: 149}) {
		t.Errorf("%v %g %d terms, the first %v", got.Example, got.Score, len(got.Terms), got.Terms[0])
	}
	if s.Sample(&crawl.Page{URL: "http://example.org/other"}, &crawl.Verdict{}, nil).Example {
		t.Error("another page counts as an example")
	}
	if topic.IsExample(about, "") {
		t.Error("the example text counts as a page")
	}
}

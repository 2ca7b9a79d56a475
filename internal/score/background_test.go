package score

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

// grown adds pages of the given texts.
func grown(b *Background, a *text.Vocabulary, texts ...string) {
	for _, words := range texts {
		x := text.NewTally(a.Lexicon())
		x.Count(words, "en", 1)
		b.add(a.Lexicon(), x.IDs())
		x.Free()
	}
}

// times are n texts.
func times(n int, text string) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}

// weightsOf are the weights of terms, as they are now.
func weightsOf(b *Background, a *text.Vocabulary, terms ...string) map[string]float64 {
	x := a.Lexicon()
	w := b.weights(x)
	m := map[string]float64{}
	for _, term := range terms {
		m[term] = math.Round(w.Of(x.ID(term))*1e5) / 1e5
	}
	return m
}

// TestBackground states idf worked out by hand, as ln(1 + N/df).
func TestBackground(t *testing.T) {
	a := text.NewVocabulary()
	b := NewBackground(a, nil)
	check := func(what string, raven, fox, hare float64) {
		t.Helper()
		want := map[string]float64{"raven": raven, "fox": fox, "hare": hare}
		if got := weightsOf(b, a, "raven", "fox", "hare"); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("no page", 1, 1, 1)
	grown(b, a, times(5, "raven raven fox")...) // a page counts once
	grown(b, a, times(14, "fox")...)
	check("19 pages", 1, 1, 1)
	if b.weights(a.Lexicon()) != nil {
		t.Error("19 pages have weights")
	}
	grown(b, a, "fox")
	check("20 pages, 5 and 20 and none of them", 1.60944, 0.69315, 3.04452) // ln 5, ln 2, ln 21
	grown(b, a, times(4, "hare")...)
	check("24 pages: not yet anew", 1.60944, 0.69315, 3.04452)
	grown(b, a, "fox")
	check("25 pages: 5, 21, 4", 1.79176, 0.78412, 1.98100) // ln 6, ln (46/21), ln 7.25
	grown(b, a, times(6, "hare")...)
	check("31 pages: not yet anew", 1.79176, 0.78412, 1.98100)
	grown(b, a, "hare")
	check("32 pages: 5, 21, 11", 2.00148, 0.92577, 1.36330) // ln 7.4, ln (53/21), ln (43/11)
}

// TestLearnedBackground: what the reference crawl taught is there at once, and grows.
func TestLearnedBackground(t *testing.T) {
	a := text.NewVocabulary()
	b := NewBackground(a, &Learned{Pages: 40, Background: []text.Term{{Text: "fox", Weight: 40}, {Text: "raven", Weight: 10}}})
	want := map[string]float64{"raven": 1.60944, "fox": 0.69315, "hare": 3.71357} // ln 5, ln 2, ln 41
	if got := weightsOf(b, a, "raven", "fox", "hare"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	grown(b, a, times(10, "raven hare")...)
	want = map[string]float64{"raven": 1.25276, "fox": 0.81093, "hare": 1.79176} // ln 3.5, ln 2.25, ln 6
	if got := weightsOf(b, a, "raven", "fox", "hare"); !maps.Equal(got, want) {
		t.Errorf("with ten pages more: %v, want %v", got, want)
	}
	few := NewBackground(a, &Learned{Pages: 19, Background: []text.Term{{Text: "raven", Weight: 1}}})
	if few.weights(a.Lexicon()) != nil {
		t.Error("19 learned pages have weights")
	}
}

// TestWeighedScore is of a page and topics of two terms each. From the 21st page on, terms weigh by how few of the pages
// before have them: 5 have raven (ln 5 = 1.609438), 20 have fox (ln 2 = 0.693147), none has crow (ln 21 = 3.044522).
func TestWeighedScore(t *testing.T) {
	a := text.NewVocabulary()
	m := Memory{Background: NewBackground(a, nil)}
	s := remembering(t, ravens, weigh(t, 1, "document", "anchor", "paragraph"), nil, a, m)
	page := func(text string) *crawl.Page {
		p := &crawl.Page{Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{{URL: "http://a.example/", Hop: crawl.HopLink, Anchor: "crow fox", Block: 0}}}
		m.Take(s.Page(p, Context{}).Visit)
		return p
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
	scorer(t, ravens, weigh(t, 1, "document"), nil).Page(p, Context{})
	if !near(p.Score, 0.5) {
		t.Errorf("without a background the page scores %g", p.Score)
	}
}

// counts are the pages and how many have a term, by its name.
func counts(b *Background) (float64, map[string]float32) {
	m := map[string]float32{}
	for id, n := range b.df {
		if n > 0 {
			m[b.in.Name(uint32(id))] = n
		}
	}
	return b.pages, m
}

// TestMove: a lexicon that is begun anew numbers terms otherwise, and the counts go with it.
func TestMove(t *testing.T) {
	a := text.NewVocabulary()
	b := NewBackground(a, nil)
	texts := []string{"raven fox", "raven", "hare raven crow", "fox"}
	for i := range 24 {
		grown(b, a, texts[i%4])
	}
	before := weightsOf(b, a, "raven", "fox", "hare", "crow", "other")
	pages, df := counts(b)
	old := a.Lexicon()
	a.Renew()
	grown(b, a, "crow hare") // numbered in this order now
	if a.Lexicon() == old || b.in != old {
		t.Fatal("nobody has asked for weights in the new lexicon")
	}
	if now := a.Lexicon(); old.ID("raven") == now.ID("raven") && old.ID("hare") == now.ID("hare") {
		t.Fatal("the terms have the same numbers as before")
	}
	df["crow"]++
	df["hare"]++
	if p, d := counts(b); p != pages+1 || !maps.Equal(d, df) {
		t.Errorf("%g pages of %v, want %g of %v", p, d, pages+1, df)
	}
	// 25 pages: 18, 12, 7, 7 and none; at once, though 24 pages were weighed before.
	want := map[string]float64{"raven": 0.87083, "fox": 1.12601, "hare": 1.51983, "crow": 1.51983, "other": 3.25810}
	if got := weightsOf(b, a, "raven", "fox", "hare", "crow", "other"); !maps.Equal(got, want) {
		t.Errorf("weights %v, want %v (they were %v)", got, want, before)
	}
	if b.in != a.Lexicon() {
		t.Error("the weights are of another lexicon")
	}
}

// TestScoresAfterMove: a page scores the same with a lexicon that was begun anew.
func TestScoresAfterMove(t *testing.T) {
	a := text.NewVocabulary()
	b := NewBackground(a, nil)
	for i := range 20 {
		grown(b, a, []string{"fox", "raven fox hare", "crow", "hare fox"}[i%4])
	}
	s := remembering(t, ravens, weigh(t, 1, "document"), nil, a, Memory{Background: b})
	p := &crawl.Page{Language: "en", Blocks: []string{"hare raven hare fox"}}
	s.Page(p, Context{})
	before := p.Score
	a.Renew()
	if s.Page(p, Context{}); p.Score != before || before <= 0 || before >= 1 {
		t.Errorf("%g, and before %g", p.Score, before)
	}
}

// TestAnyOrder: the same pages in any order make the same background, at any pace.
func TestAnyOrder(t *testing.T) {
	var texts []string
	for i := range uint64(80) {
		texts = append(texts, rambling(i, 40))
	}
	build := func(seed uint64) (*Background, *text.Vocabulary) {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		a := text.NewVocabulary()
		b := NewBackground(a, &Learned{Pages: 10, Background: []text.Term{{Text: "ra", Weight: 7}, {Text: "ven", Weight: 2}}})
		m := Memory{Background: b}
		s := remembering(t, ravens, weigh(t, 1, "document"), nil, a, m)
		for i, text := range texts {
			m.Take(s.Page(&crawl.Page{Language: "en", Blocks: []string{text}}, Context{}).Visit)
			if seed > 0 && i == int(seed)*7 {
				a.Renew()
			}
		}
		return b, a
	}
	first, _ := build(0)
	pages, df := counts(first)
	if pages != 90 || len(df) < 100 || df["ra"] < 7 {
		t.Fatalf("%g pages of %d terms", pages, len(df))
	}
	for seed := range uint64(8) {
		b, a := build(seed + 1)
		p, d := counts(b)
		if p != pages || !maps.Equal(d, df) {
			t.Fatalf("order %d: %g pages of %d terms, want %g of %d", seed, p, len(d), pages, len(df))
		}
		first.next, b.next = 0, 0 // weigh both now
		for term := range df {
			if x, y := first.weights(first.in).Of(first.in.ID(term)), b.weights(a.Lexicon()).Of(a.Lexicon().ID(term)); x != y {
				t.Fatalf("order %d: %s weighs %g, and %g", seed, term, x, y)
			}
		}
	}
}

// TestManyAtOnce: scorers of several workers share words, background and past, while lexica are begun anew.
func TestManyAtOnce(t *testing.T) {
	a := text.NewVocabulary()
	m := Memory{Background: NewBackground(a, nil), Past: NewPast()}
	s := remembering(t, ravens, weigh(t, 1, crawl.PartNames...), nil, a, m)
	const workers, each = 4, 60
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				p := &crawl.Page{URL: fmt.Sprintf("http://a.example/%d", i), Language: "en", Blocks: []string{"raven " + rambling(uint64(w*each+i), 20)}, Links: []crawl.Outlink{link("http://a.example/raven", "crow")}}
				scored := s.Page(p, Context{View: i%2 == 0, Terms: true})
				if p.Score <= 0 || p.Score > 1 || p.Links[0].Score <= 0 || p.Links[0].Score > 1 {
					t.Errorf("a page scores %g, its link %g", p.Score, p.Links[0].Score)
				}
				if i%20 == 10 && w == 0 {
					a.Renew()
				}
				m.Take(scored.Visit)
			}
		})
	}
	wg.Wait()
	if pages, df := counts(m.Background); pages != workers*each || df["raven"] != workers*each {
		t.Errorf("%g pages, %g with ravens, want %d", pages, df["raven"], workers*each)
	}
	if w := m.Past.of("a.example"); w.Pages != workers*each {
		t.Errorf("the host has %g pages", w.Pages)
	}
}

package topic

import (
	"maps"
	"math"
	"testing"

	"github.com/muninn-archive/muninn/internal/text"
)

// grown adds pages of the given texts.
func grown(b *DocumentFrequencies, a *text.Vocabulary, texts ...string) {
	for _, words := range texts {
		x := text.NewTally(a.Lexicon())
		x.Count(words, "en", 1)
		b.Add(a.Lexicon(), x.IDs())
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
func weightsOf(b *DocumentFrequencies, a *text.Vocabulary, terms ...string) map[string]float64 {
	x := a.Lexicon()
	w := b.Weights(x)
	m := map[string]float64{}
	for _, term := range terms {
		m[term] = math.Round(w.Of(x.ID(term))*1e5) / 1e5
	}
	return m
}

// TestBackground compares with idf computed by hand: ln(1 + N/df).
func TestBackground(t *testing.T) {
	a := text.NewVocabulary()
	b := NewDocumentFrequencies(a, nil)
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
	if b.Weights(a.Lexicon()) != nil {
		t.Error("19 pages have weights")
	}
	grown(b, a, "fox")
	check("20 pages, 5 and 20 and none of them", 1.60944, 0.69315, 3.04452) // ln 5, ln 2, ln 21
	grown(b, a, times(4, "hare")...)
	check("24 pages: not yet again", 1.60944, 0.69315, 3.04452)
	grown(b, a, "fox")
	check("25 pages: 5, 21, 4", 1.79176, 0.78412, 1.98100) // ln 6, ln (46/21), ln 7.25
	grown(b, a, times(6, "hare")...)
	check("31 pages: not yet again", 1.79176, 0.78412, 1.98100)
	grown(b, a, "hare")
	check("32 pages: 5, 21, 11", 2.00148, 0.92577, 1.36330) // ln 7.4, ln (53/21), ln (43/11)
}

// TestLearnedBackground: the counts of the reference crawl are there at once, and grow.
func TestLearnedBackground(t *testing.T) {
	a := text.NewVocabulary()
	b := NewDocumentFrequencies(a, &Model{Pages: 40, DocumentFrequencies: []text.Term{{Text: "fox", Weight: 40}, {Text: "raven", Weight: 10}}})
	want := map[string]float64{"raven": 1.60944, "fox": 0.69315, "hare": 3.71357} // ln 5, ln 2, ln 41
	if got := weightsOf(b, a, "raven", "fox", "hare"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	grown(b, a, times(10, "raven hare")...)
	want = map[string]float64{"raven": 1.25276, "fox": 0.81093, "hare": 1.79176} // ln 3.5, ln 2.25, ln 6
	if got := weightsOf(b, a, "raven", "fox", "hare"); !maps.Equal(got, want) {
		t.Errorf("with ten pages more: %v, want %v", got, want)
	}
	few := NewDocumentFrequencies(a, &Model{Pages: 19, DocumentFrequencies: []text.Term{{Text: "raven", Weight: 1}}})
	if few.Weights(a.Lexicon()) != nil {
		t.Error("19 learned pages have weights")
	}
}

// counts are the pages and how many have a term, by its name.
func counts(b *DocumentFrequencies) (float64, map[string]float32) {
	m := map[string]float32{}
	for id, n := range b.df {
		if n > 0 {
			m[b.in.Name(uint32(id))] = n
		}
	}
	return b.pages, m
}

// TestMove: a new lexicon numbers terms in another way, and the counts are moved to it.
func TestMove(t *testing.T) {
	a := text.NewVocabulary()
	b := NewDocumentFrequencies(a, nil)
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

package topic

import (
	"slices"
	"sync"

	"github.com/muninn-archive/muninn/internal/text"
)

// DocumentFrequencies counts how many pages of a crawl have a term: those of the reference crawl, and of all that come after those
// that are not relevant. Were the relevant ones counted, the terms of the topic would weigh the less, the better the crawl
// is. It is safe for concurrent use.
type DocumentFrequencies struct {
	mu    sync.Mutex
	in    *text.Lexicon
	pages float64
	df    []float32 // by term
	next  float64   // the weights are worked out again from so many pages on
	now   *text.IDF
}

// leastPages is the number of pages from which terms are weighed by how few pages have them; before, all are alike.
const leastPages = 20

// weighAgain is by how much the pages must have grown for the weights to be worked out again.
const weighAgain = 1.25

// NewDocumentFrequencies begins with what the reference crawl taught, which may be nil.
func NewDocumentFrequencies(a *text.Vocabulary, learned *Model) *DocumentFrequencies {
	b := &DocumentFrequencies{in: a.Lexicon(), next: leastPages}
	if learned != nil {
		b.restore(float64(learned.Pages), learned.DocumentFrequencies)
	}
	return b
}

// restore puts other counts in place of its own.
func (b *DocumentFrequencies) restore(pages float64, terms []text.Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages, b.df, b.next = pages, nil, leastPages
	for _, t := range terms {
		b.grow(b.in.ID(t.Text), float32(t.Weight))
	}
}

// Commonest are the terms that most pages have, with the number of pages.
func (b *DocumentFrequencies) Commonest(n int) (pages float64, terms []text.Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := text.Vector{}
	if len(b.df) > 0 {
		least := countThreshold(b.df, n)
		for id, df := range b.df {
			if df >= least {
				v[b.in.Name(uint32(id))] = float64(df)
			}
		}
	}
	return b.pages, v.Heaviest(n)
}

func (b *DocumentFrequencies) grow(id uint32, n float32) {
	if int(id) >= len(b.df) {
		b.df = append(b.df, make([]float32, int(id)+1024-len(b.df))...)
	}
	b.df[id] += n
}

// Weights are those of the present, for a lexicon; nil as long as all terms are alike, for there are too few pages.
func (b *DocumentFrequencies) Weights(x *text.Lexicon) *text.IDF {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moveTo(x)
	if b.pages >= b.next {
		b.next = b.pages * weighAgain
		b.now = text.NewIDF(b.pages, b.df)
	}
	return b.now
}

// moveTo brings the counts over to a lexicon that was begun again.
func (b *DocumentFrequencies) moveTo(x *text.Lexicon) {
	if b.in == x {
		return
	}
	old, df := b.in, b.df
	b.in, b.df, b.next = x, nil, min(b.next, max(b.pages, leastPages))
	if len(df) == 0 {
		return
	}
	least := countThreshold(df, maxKeptTerms)
	for id, n := range df {
		if n >= least {
			b.grow(x.ID(old.Name(uint32(id))), n)
		}
	}
}

// maxKeptTerms bounds the terms that are brought over to a new lexicon: the commonest.
const maxKeptTerms = 100_000

// countThreshold is the number of pages from which a term is among so many.
func countThreshold(df []float32, terms int) float32 {
	sorted := slices.Clone(df)
	slices.Sort(sorted)
	return max(sorted[max(len(sorted)-terms, 0)], 1)
}

// Add counts the terms of a page, each of which it has once.
func (b *DocumentFrequencies) Add(in *text.Lexicon, terms []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	for _, id := range terms {
		if b.in != in { // one of them was begun again since
			id = b.in.ID(in.Name(id))
		}
		b.grow(id, 1)
	}
}

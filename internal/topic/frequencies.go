package topic

import (
	"slices"
	"sync"

	"github.com/muninn-archive/muninn/internal/text"
)

// DocumentFrequencies counts how many pages of a crawl have a term: all pages of the reference crawl, and later pages unless they
// are relevant. If relevant pages counted, the terms of the topic would lose weight the better the crawl finds them. It is safe for
// concurrent use.
type DocumentFrequencies struct {
	mu    sync.Mutex
	in    *text.Lexicon
	pages float64
	df    []float32 // by term
	next  float64   // number of pages at which the weights are computed again
	now   *text.IDF
}

// leastPages is the number of pages from which terms are weighted by their document frequency; with fewer, all weigh the same.
const leastPages = 20

// weighAgain is the growth of the number of pages, as a factor, after which the weights are computed again.
const weighAgain = 1.25

// NewDocumentFrequencies starts with the counts of a reference crawl; learned may be nil.
func NewDocumentFrequencies(a *text.Vocabulary, model *Model) *DocumentFrequencies {
	b := &DocumentFrequencies{in: a.Lexicon(), next: leastPages}
	if model != nil {
		b.restore(float64(model.Pages), model.DocumentFrequencies)
	}
	return b
}

// restore replaces the counts.
func (b *DocumentFrequencies) restore(pages float64, terms []text.Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages, b.df, b.next = pages, nil, leastPages
	for _, t := range terms {
		b.grow(b.in.ID(t.Text), float32(t.Weight))
	}
}

// Commonest returns the number of pages, and the n terms that most pages have, with how many have them.
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

// Weights are the present weights of the terms of a lexicon; nil while there are too few pages, which means that all terms weigh
// the same.
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

// moveTo moves the counts to a new lexicon, which has replaced a full one and has other numbers.
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

// maxKeptTerms bounds the terms that are moved to a new lexicon: the commonest.
const maxKeptTerms = 100_000

// countThreshold is the number of pages that a term must have to be among the commonest terms, of which there are so many.
func countThreshold(df []float32, terms int) float32 {
	sorted := slices.Clone(df)
	slices.Sort(sorted)
	return max(sorted[max(len(sorted)-terms, 0)], 1)
}

// Add counts a page with its distinct terms, which are numbers of the lexicon in.
func (b *DocumentFrequencies) Add(in *text.Lexicon, terms []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	for _, id := range terms {
		if b.in != in { // the lexicon was replaced since the terms were numbered
			id = b.in.ID(in.Name(id))
		}
		b.grow(id, 1)
	}
}

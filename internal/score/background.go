package score

import (
	"slices"
	"sync"

	"github.com/muninn-archive/muninn/internal/text"
)

// Background counts how many pages of a crawl have a term: those of the reference crawl, and of all that come after those
// that are not relevant. Were the relevant ones counted, the terms of the topic would weigh the less, the better the crawl
// is. It is safe for concurrent use.
type Background struct {
	mu    sync.Mutex
	in    *text.Lexicon
	pages float64
	df    []float32 // by term
	next  float64   // the weights are worked out anew from so many pages on
	now   *text.IDF
}

// leastBackground is the number of pages from which terms are weighed by how few pages have them; before, all are alike.
const leastBackground = 20

// again is by how much the pages must have grown for the weights to be worked out anew.
const again = 1.25

// NewBackground begins with what the reference crawl taught, which may be nil.
func NewBackground(a *text.Vocabulary, learned *Learned) *Background {
	b := &Background{in: a.Lexicon(), next: leastBackground}
	if learned != nil {
		b.restore(float64(learned.Pages), learned.Background)
	}
	return b
}

// restore puts other counts in place of its own.
func (b *Background) restore(pages float64, terms []text.Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages, b.df, b.next = pages, nil, leastBackground
	for _, t := range terms {
		b.grow(b.in.ID(t.Text), float32(t.Weight))
	}
}

// commonest are the terms that most pages have, with the number of pages.
func (b *Background) commonest(n int) (pages float64, terms []text.Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := text.Vector{}
	if len(b.df) > 0 {
		least := leastOf(b.df, n)
		for id, df := range b.df {
			if df >= least {
				v[b.in.Name(uint32(id))] = float64(df)
			}
		}
	}
	return b.pages, v.Heaviest(n)
}

func (b *Background) grow(id uint32, n float32) {
	if int(id) >= len(b.df) {
		b.df = append(b.df, make([]float32, int(id)+1024-len(b.df))...)
	}
	b.df[id] += n
}

// weights are those of the present, for a lexicon; nil if all terms are alike.
func (b *Background) weights(x *text.Lexicon) *text.IDF {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.move(x)
	if b.pages >= b.next {
		b.next = b.pages * again
		b.now = text.NewIDF(b.pages, b.df)
	}
	return b.now
}

// move brings the counts over to a lexicon that was begun anew.
func (b *Background) move(x *text.Lexicon) {
	if b.in == x {
		return
	}
	old, df := b.in, b.df
	b.in, b.df, b.next = x, nil, min(b.next, max(b.pages, leastBackground))
	if len(df) == 0 {
		return
	}
	least := leastOf(df, maxKept)
	for id, n := range df {
		if n >= least {
			b.grow(x.ID(old.Name(uint32(id))), n)
		}
	}
}

// maxKept bounds the terms that are brought over to a new lexicon: the commonest.
const maxKept = 100_000

// leastOf is the number of pages from which a term is among so many.
func leastOf(df []float32, terms int) float32 {
	sorted := slices.Clone(df)
	slices.Sort(sorted)
	return max(sorted[max(len(sorted)-terms, 0)], 1)
}

// add counts the terms of a page, each of which it has once.
func (b *Background) add(in *text.Lexicon, terms []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	for _, id := range terms {
		if b.in != in { // one of them was begun anew since
			id = b.in.ID(in.Name(id))
		}
		b.grow(id, 1)
	}
}

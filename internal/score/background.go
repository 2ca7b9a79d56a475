package score

import (
	"math"
	"slices"
	"sync"
)

// Background counts how many pages of a crawl have a term: those of the reference crawl, and of all that come after those
// that are not relevant. Were the relevant ones counted, the terms of the topic would weigh the less, the better the crawl
// is. It is safe for concurrent use.
type Background struct {
	mu    sync.Mutex
	in    *lexicon
	pages float64
	df    []float32 // by term
	next  float64   // the weights are worked out anew from so many pages on
	now   *idf
}

// idf holds the weights of terms by how few pages have them: ln(1 + N/df).
type idf struct {
	in     *lexicon
	weight []float32
	unseen float32
}

// leastBackground is the number of pages from which terms are weighed by how few pages have them; before, all are alike.
const leastBackground = 20

// again is by how much the pages must have grown for the weights to be worked out anew.
const again = 1.25

// NewBackground begins with what the reference crawl taught, which may be nil.
func NewBackground(a *Analyser, learned *Learned) *Background {
	b := &Background{in: a.lexicon(), next: leastBackground}
	if learned != nil {
		b.restore(float64(learned.Pages), learned.Background)
	}
	return b
}

// restore puts other counts in place of its own.
func (b *Background) restore(pages float64, terms []Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages, b.df, b.next = pages, nil, leastBackground
	for _, t := range terms {
		b.grow(b.in.id(t.Text), float32(t.Weight))
	}
}

// commonest are the terms that most pages have, with the number of pages.
func (b *Background) commonest(n int) (pages float64, terms []Term) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := Vector{}
	if len(b.df) > 0 {
		least := leastOf(b.df, n)
		for id, df := range b.df {
			if df >= least {
				v[b.in.name(uint32(id))] = float64(df)
			}
		}
	}
	return b.pages, v.heaviest(n)
}

func (b *Background) grow(id uint32, n float32) {
	if int(id) >= len(b.df) {
		b.df = append(b.df, make([]float32, int(id)+1024-len(b.df))...)
	}
	b.df[id] += n
}

// weights are those of the present, for a lexicon; nil if all terms are alike.
func (b *Background) weights(x *lexicon) *idf {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.move(x)
	if b.pages >= b.next {
		b.next = b.pages * again
		w := &idf{in: x, weight: make([]float32, len(b.df)), unseen: float32(math.Log(1 + b.pages))}
		for id, n := range b.df {
			w.weight[id] = float32(math.Log(1 + b.pages/math.Max(float64(n), 1)))
		}
		b.now = w
	}
	return b.now
}

// move brings the counts over to a lexicon that was begun anew.
func (b *Background) move(x *lexicon) {
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
			b.grow(x.id(old.name(uint32(id))), n)
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
func (b *Background) add(in *lexicon, terms []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	for _, id := range terms {
		if b.in != in { // one of them was begun anew since
			id = b.in.id(in.name(id))
		}
		b.grow(id, 1)
	}
}

// of is the weight of a term. It may be called on nil.
func (w *idf) of(id uint32) float64 {
	switch {
	case w == nil:
		return 1
	case int(id) < len(w.weight):
		return float64(w.weight[id])
	}
	return float64(w.unseen)
}

// sublinear damps the frequency of a term: 1 + ln n, and less than 1 below 1.
func sublinear(n float64) float64 {
	if n < 1 {
		return n
	}
	if n < float64(len(logs)) && n == math.Trunc(n) {
		return logs[int(n)]
	}
	return 1 + math.Log(n)
}

var logs = func() (table [64]float64) {
	for i := range table {
		table[i] = 1 + math.Log(math.Max(float64(i), 1))
	}
	return table
}()

package bleve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	base "github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// BM25's parameters, as in the literature (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3.5).
const (
	bm25K = 1.2
	bm25B = 0.75
)

// idf is the weight of a term that so many of all documents have.
func idf(documents, with uint64) float64 {
	return math.Log(1 + (float64(documents)-float64(with)+0.5)/(float64(with)+0.5))
}

// word is a word that adds to the scores of documents that have one of its terms in a field.
type word struct {
	field  string
	terms  terms.Slot
	boost  float64
	within *roaring.Bitmap // documents to whose scores it adds
	bound  float64         // what it can add to one, in any unit
}

// lowest is a rank that so many documents as are wanted are known to reach. Units share it.
type lowest struct{ bits atomic.Uint64 }

func (l *lowest) get() float64 { return math.Float64frombits(l.bits.Load()) }

func (l *lowest) raise(rank float64) {
	for {
		old := l.bits.Load()
		if rank <= math.Float64frombits(old) || l.bits.CompareAndSwap(old, math.Float64bits(rank)) {
			return
		}
	}
}

// sums are scores by the numbers of documents, all 0 at first.
type sums []float64

var room sync.Pool

func newSums(n int) sums {
	if s, ok := room.Get().(*sums); ok && cap(*s) >= n {
		return (*s)[:n]
	}
	return make(sums, n)
}

// free gives sums back, of which only those of some documents are not 0.
func (s sums) free(docs *roaring.Bitmap) {
	if docs.GetCardinality()*8 > uint64(len(s)) {
		clear(s)
	} else {
		it := docs.Iterator()
		for it.HasNext() {
			s[it.Next()] = 0
		}
	}
	s = s[:0]
	room.Put(&s)
}

// wordsOf lists the words that score in what a query matches: of an Or, each in the documents that its own node matches.
func wordsOf(m *matched, within *roaring.Bitmap) (list []word) {
	for _, slot := range m.words {
		list = append(list, word{field: fieldText, terms: slot, boost: 1, within: within})
	}
	for _, child := range m.of {
		inner := within
		if m.any {
			inner = roaring.And(within, child.docs)
		}
		list = append(list, wordsOf(child, inner)...)
	}
	return list
}

// scorer adds up the scores of the documents that a query matches in a unit.
type scorer struct {
	ctx context.Context
	*unit
	weights *weights
	sums    sums
	table   *table
	wanted  int // documents with the highest ranks
	low     *lowest
	credit  float64 // the highest that the sums have before
}

// boundOf is what a word can add to a document: a document has words of one language, so that it has one of the terms with a language in front at most, and
// one of those without.
func (s *scorer) boundOf(w *word, here bool) (float64, int, error) {
	var with, without float64
	n := 0
	for _, t := range w.terms {
		if here {
			p, err := s.postings(w.field, t)
			if err != nil {
				return 0, 0, err
			}
			if p == nil {
				continue
			}
			n += int(p.docs.GetCardinality())
		} else if s.weights.with[w.field][t] == 0 {
			continue
		}
		most := s.weights.of(w.field, w.boost)(t) * (bm25K + 1)
		if strings.Contains(t, ":") {
			with = max(with, most)
		} else {
			without = max(without, most)
		}
	}
	return with + without, n, nil
}

// pruneFrom is the number of postings from which on it is worth to look which documents can still be among the highest.
const pruneFrom = 2048

// rounding is more than what the order of additions changes in a sum of scores.
const rounding = 1 + 1e-9

// score adds the words to the sums, those that can add most first. Documents that cannot be among the highest any more are left out: it returns the others.
func (s *scorer) score(list []word, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	for i := range list {
		w := &list[i]
		w.bound, _, _ = s.boundOf(w, false)
	}
	slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(b.bound, a.bound) })
	rest := make([]float64, len(list)+1)
	counts := make([]int, len(list)+1)
	for i := len(list) - 1; i >= 0; i-- {
		most, n, err := s.boundOf(&list[i], true)
		if err != nil {
			return nil, err
		}
		rest[i], counts[i] = rest[i+1]+most, n
	}
	candidates, pruned := docs, false
	for i := range list {
		if err := s.add(&list[i], candidates, pruned); err != nil {
			return nil, err
		}
		if most := rest[0] - rest[i+1] + s.credit; counts[i+1] < pruneFrom || s.wanted == 0 || !s.table.whole || rest[i+1] >= most {
			continue
		}
		left, err := s.prune(candidates, rest[i+1]*rounding)
		if err != nil {
			return nil, err
		}
		if left != nil {
			candidates, pruned = left, true
		}
	}
	return candidates, nil
}

// add adds one word.
func (s *scorer) add(w *word, candidates *roaring.Bitmap, pruned bool) error {
	average := max(s.weights.average(w.field), 1)
	const perLength = bm25K * bm25B
	for _, t := range w.terms {
		p, err := s.postings(w.field, t)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		docs := roaring.And(p.docs, w.within)
		if pruned {
			docs = roaring.And(docs, candidates)
		}
		n := docs.GetCardinality()
		if n == 0 {
			continue
		}
		if n == p.docs.GetCardinality() {
			docs = p.docs
		}
		weight := s.weights.of(w.field, w.boost)(t) * (bm25K + 1)
		it := p.in(docs, false)
		for i := 0; ; i++ {
			posting, err := it.Next()
			if err != nil {
				return err
			}
			if posting == nil {
				break
			}
			tf, length := float64(posting.Frequency()), 1.0
			if norm := posting.Norm(); norm > 0 { // it is 1/√length
				length = 1 / (norm * norm)
			}
			s.sums[posting.Number()] += weight * tf / (tf + bm25K*(1-bm25B) + perLength*length/average)
			if i%checkEvery == 0 && s.ctx.Err() != nil {
				return s.ctx.Err()
			}
		}
	}
	return nil
}

// prune leaves the documents that may be among those that are wanted if words that are left add no more than so much; nil if that leaves nothing out.
func (s *scorer) prune(docs *roaring.Bitmap, more float64) (*roaring.Bitmap, error) {
	highest := ranks{size: s.wanted}
	factor := base.Factor
	err := each(s.ctx, docs, func(doc uint32, _ int) {
		if sum := s.sums[doc]; sum > 0 {
			if rank := sum * factor(s.table.orders[doc].score); rank > highest.low {
				highest.add(rank)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.low.raise(highest.low)
	low := s.low.get()
	if more*factor(1) >= low {
		return nil, nil
	}
	var kept []uint32
	err = each(s.ctx, docs, func(doc uint32, _ int) {
		if sum := s.sums[doc]; sum > 0 && (sum+more)*factor(s.table.orders[doc].score)*rounding >= low {
			kept = append(kept, doc)
		}
	})
	left := roaring.New()
	left.AddMany(kept)
	return left, err
}

// ranks is a heap of the highest ranks; low is the lowest of them once there are as many as its size.
type ranks struct {
	size int
	list []float64
	low  float64
}

func (r *ranks) add(rank float64) {
	if len(r.list) < r.size {
		r.list = append(r.list, rank)
		for i := len(r.list) - 1; i > 0 && r.list[i] < r.list[(i-1)/2]; i = (i - 1) / 2 {
			r.list[i], r.list[(i-1)/2] = r.list[(i-1)/2], r.list[i]
		}
	} else {
		i := 0
		for {
			child := 2*i + 1
			if child >= r.size {
				break
			}
			if child+1 < r.size && r.list[child+1] < r.list[child] {
				child++
			}
			if rank <= r.list[child] {
				break
			}
			r.list[i] = r.list[child]
			i = child
		}
		r.list[i] = rank
	}
	if len(r.list) == r.size {
		r.low = r.list[0]
	}
}

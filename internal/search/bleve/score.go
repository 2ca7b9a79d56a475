package bleve

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

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
	seen    *roaring.Bitmap // documents whose sums are not 0; nil if nobody asks
	table   *table
	wanted  int // documents with the highest ranks
	low     *lowest
	credit  float64 // the highest that the sums have before
}

// boundHere is what a word can add to a document of the unit, and the number of its postings.
func (s *scorer) boundHere(w *word) (float64, int, error) {
	n := 0
	most, err := s.weights.most(w.field, w.terms, w.boost, func(t string) (bool, error) {
		p, err := s.postings(w.field, t)
		if p == nil {
			return false, err
		}
		n += int(p.docs.GetCardinality())
		return true, nil
	})
	return most, n, err
}

// score adds the words to the sums, those that can add most first. Documents that cannot be among the highest any more are left out: it returns the others.
func (s *scorer) score(list []word, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	for i := range list {
		list[i].bound = s.weights.bounds[boundOf(list[i].field, list[i].terms)]
	}
	slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(b.bound, a.bound) })
	rest := make([]float64, len(list)+1) // what the words from one on can add
	counts := make([]int, len(list)+1)
	for i := len(list) - 1; i >= 0; i-- {
		most, n, err := s.boundHere(&list[i])
		if err != nil {
			return nil, err
		}
		rest[i], counts[i] = rest[i+1]+most, n
	}
	var left *roaring.Bitmap // documents that can be among the highest; nil while those without any of the words before can be, too
	for i := range list {
		if left == nil && s.below(rest[i]) {
			left = s.seen
		}
		if left != nil && left.IsEmpty() {
			return left, nil
		}
		if err := s.add(&list[i], left); err != nil {
			return nil, err
		}
		if counts[i+1] < pruneFrom || !s.table.whole {
			continue
		}
		var err error
		if left, err = s.prune(left, rest[i+1], rest[0]-rest[i+1]+s.credit); err != nil {
			return nil, err
		}
	}
	switch {
	case !s.table.whole: // its rows are those of all of them; those that are left out have lower ranks
	case left != nil:
		return left, nil
	case s.low.get() > 0:
		return s.seen, nil
	}
	return docs, nil
}

// add adds one word to the sums of the documents that are left; nil are all.
func (s *scorer) add(w *word, left *roaring.Bitmap) error {
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
		docs := p.docs
		if w.within != docs && w.within != s.all {
			docs = roaring.And(docs, w.within)
		}
		if left != nil {
			docs = roaring.And(docs, left)
		}
		n := docs.GetCardinality()
		if n == 0 {
			continue
		}
		if n == p.docs.GetCardinality() {
			docs = p.docs
		}
		if left == nil && s.seen != nil {
			s.seen.Or(docs)
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
		done(it)
	}
	return nil
}

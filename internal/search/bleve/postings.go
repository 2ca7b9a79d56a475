package bleve

import (
	"context"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// BM25's parameters, as in the literature (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3.5).
const (
	bm25K = 1.2
	bm25B = 0.75
)

// cursor stands at a posting of a term.
type cursor struct {
	reader index.TermFieldReader
	doc    *index.TermFieldDoc // nil at the end
	room   index.TermFieldDoc
	weight float64 // idf, times the boost of the field
}

func (c *cursor) next() (err error) {
	c.doc, err = c.reader.Next(c.room.Reset())
	return err
}

// advance goes to a document, or to the first after it.
func (c *cursor) advance(id index.IndexInternalID) (err error) {
	if c.doc == nil || c.doc.ID.Compare(id) >= 0 {
		return nil
	}
	c.doc, err = c.reader.Advance(id, c.room.Reset())
	return err
}

// slot finds the documents that have one of several terms in a field. It implements search.Searcher. bleve's own disjunction lowers the score of
// documents that lack some of the terms, which here are forms of one word in several languages.
type slot struct {
	cursors []cursor
	average float64 // length of the field
	begun   bool
	left    index.IndexInternalID // room for the document that a step leaves
}

// newSlot opens the postings of terms; weight is that of each.
func newSlot(ctx context.Context, r index.IndexReader, field string, list []string, weight func(term string) float64, average float64, positions bool) (*slot, error) {
	s := &slot{average: average}
	for _, t := range list {
		reader, err := r.TermFieldReader(ctx, []byte(t), field, true, true, positions)
		if err != nil {
			_ = s.Close()
			return nil, err
		}
		if reader.Count() == 0 {
			_ = reader.Close()
			continue
		}
		s.cursors = append(s.cursors, cursor{reader: reader, weight: weight(t)})
	}
	return s, nil
}

// step goes to the next document; nil at the end.
func (s *slot) step() (index.IndexInternalID, error) {
	if !s.begun {
		s.begun = true
		for i := range s.cursors {
			if err := s.cursors[i].next(); err != nil {
				return nil, err
			}
		}
		return s.at(), nil
	}
	if len(s.cursors) > 1 { // with one, its document is that of the slot
		s.left = append(s.left[:0], s.at()...)
	}
	for i := range s.cursors {
		if c := &s.cursors[i]; c.doc != nil && (len(s.cursors) == 1 || c.doc.ID.Equals(s.left)) {
			if err := c.next(); err != nil {
				return nil, err
			}
		}
	}
	return s.at(), nil
}

func (s *slot) seek(id index.IndexInternalID) (index.IndexInternalID, error) {
	if !s.begun {
		if _, err := s.step(); err != nil {
			return nil, err
		}
	}
	for i := range s.cursors {
		if err := s.cursors[i].advance(id); err != nil {
			return nil, err
		}
	}
	return s.at(), nil
}

// at is the document at which the slot stands.
func (s *slot) at() (first index.IndexInternalID) {
	if len(s.cursors) == 1 && s.cursors[0].doc != nil {
		return s.cursors[0].doc.ID
	}
	for i := range s.cursors {
		if d := s.cursors[i].doc; d != nil && (first == nil || d.ID.Compare(first) < 0) {
			first = d.ID
		}
	}
	return first
}

// score is that of the document at which the slot stands, by BM25. The norm of a field is 1/√length.
func (s *slot) score() (sum float64) {
	at := s.at()
	for i := range s.cursors {
		c := &s.cursors[i]
		if c.doc == nil || !c.doc.ID.Equals(at) {
			continue
		}
		tf, length := float64(c.doc.Freq), 1.0
		if c.doc.Norm > 0 {
			length = 1 / (c.doc.Norm * c.doc.Norm)
		}
		sum += c.weight * tf * (bm25K + 1) / (tf + bm25K*(1-bm25B+bm25B*length/max(s.average, 1)))
	}
	return sum
}

// has reports whether the document at which the slot stands has one of the terms at a position.
func (s *slot) has(at index.IndexInternalID, position uint64) bool {
	for i := range s.cursors {
		c := &s.cursors[i]
		if c.doc == nil || !c.doc.ID.Equals(at) {
			continue
		}
		_, found := slices.BinarySearchFunc(c.doc.Vectors, position, func(v *index.TermFieldVector, p uint64) int {
			return int(int64(v.Pos) - int64(p))
		})
		if found {
			return true
		}
	}
	return false
}

func match(ctx *search.SearchContext, id index.IndexInternalID, score float64) *search.DocumentMatch {
	m := ctx.DocumentMatchPool.Get()
	m.IndexInternalID = index.NewIndexInternalIDFrom(m.IndexInternalID, id)
	m.Score = score
	return m
}

func (s *slot) matched(ctx *search.SearchContext, id index.IndexInternalID, err error) (*search.DocumentMatch, error) {
	if id == nil || err != nil {
		return nil, err
	}
	return match(ctx, id, s.score()), nil
}

// Next implements search.Searcher.
func (s *slot) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	id, err := s.step()
	return s.matched(ctx, id, err)
}

// Advance implements search.Searcher.
func (s *slot) Advance(ctx *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	id, err := s.seek(to)
	return s.matched(ctx, id, err)
}

// Close implements search.Searcher.
func (s *slot) Close() (err error) {
	for i := range s.cursors {
		if e := s.cursors[i].reader.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Count implements search.Searcher.
func (s *slot) Count() (n uint64) {
	for i := range s.cursors {
		n += s.cursors[i].reader.Count()
	}
	return n
}

// Size, Min, DocumentMatchPoolSize, Weight and SetQueryNorm implement search.Searcher. Scores are not normalised.

func (s *slot) Size() int                  { return 128 * len(s.cursors) }
func (s *slot) Min() int                   { return 0 }
func (s *slot) DocumentMatchPoolSize() int { return 1 }
func (s *slot) Weight() float64            { return 1 }
func (s *slot) SetQueryNorm(float64)       {}

// idf is the weight of a term that so many of all documents have.
func idf(documents, with uint64) float64 {
	return math.Log(1 + (float64(documents)-float64(with)+0.5)/(float64(with)+0.5))
}

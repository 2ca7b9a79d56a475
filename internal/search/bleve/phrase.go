package bleve

import (
	"errors"
	"math"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// phrase finds the documents in which slots are filled at positions that follow each other. It implements search.Searcher.
type phrase struct {
	slots []*slot
	rare  int // the slot with the fewest documents, which leads
}

// newPhrase makes a phrase of slots, of which several may be the same.
func newPhrase(slots []*slot) *phrase {
	p := &phrase{slots: slots}
	rarest := uint64(math.MaxUint64)
	for i, s := range slots {
		if n := s.Count(); n < rarest {
			p.rare, rarest = i, n
		}
	}
	return p
}

// from finds the next document with the phrase from one on at which the leading slot stands.
func (p *phrase) from(id index.IndexInternalID, err error) (index.IndexInternalID, error) {
	for id != nil && err == nil {
		other := id
		for i, s := range p.slots {
			if i == p.rare {
				continue
			}
			if other, err = s.seek(id); err != nil || other == nil {
				return nil, err
			}
			if !other.Equals(id) {
				break
			}
		}
		switch {
		case !other.Equals(id):
			id, err = p.slots[p.rare].seek(other)
		case p.filled(id):
			return id, nil
		default:
			id, err = p.slots[p.rare].step()
		}
	}
	return nil, err
}

// filled reports whether a document at which all slots stand has the phrase.
func (p *phrase) filled(id index.IndexInternalID) bool {
	rare := p.slots[p.rare]
	for i := range rare.cursors {
		c := &rare.cursors[i]
		if c.doc == nil || !c.doc.ID.Equals(id) {
			continue
		}
		for _, v := range c.doc.Vectors {
			if p.filledAt(id, v.Pos) {
				return true
			}
		}
	}
	return false
}

// filledAt reports whether the phrase stands where its leading slot is at a position.
func (p *phrase) filledAt(id index.IndexInternalID, at uint64) bool {
	if at <= uint64(p.rare) {
		return false
	}
	for i, s := range p.slots {
		if !s.has(id, at-uint64(p.rare)+uint64(i)) {
			return false
		}
	}
	return true
}

func (p *phrase) matched(ctx *search.SearchContext, id index.IndexInternalID, err error) (*search.DocumentMatch, error) {
	if id == nil || err != nil {
		return nil, err
	}
	sum := 0.0
	for _, s := range p.slots {
		sum += s.score()
	}
	return match(ctx, id, sum), nil
}

// Next implements search.Searcher.
func (p *phrase) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	id, err := p.from(p.slots[p.rare].step())
	return p.matched(ctx, id, err)
}

// Advance implements search.Searcher.
func (p *phrase) Advance(ctx *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	id, err := p.from(p.slots[p.rare].seek(to))
	return p.matched(ctx, id, err)
}

// Close implements search.Searcher.
func (p *phrase) Close() (err error) {
	closed := map[*slot]bool{}
	for _, s := range p.slots {
		if !closed[s] {
			closed[s] = true
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// The other methods of search.Searcher.

func (p *phrase) Count() uint64              { return p.slots[p.rare].Count() }
func (p *phrase) Size() int                  { return 128 * len(p.slots) }
func (p *phrase) Min() int                   { return 0 }
func (p *phrase) DocumentMatchPoolSize() int { return 1 }
func (p *phrase) Weight() float64            { return 1 }
func (p *phrase) SetQueryNorm(float64)       {}

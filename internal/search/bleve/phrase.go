package bleve

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/muninn-archive/muninn/internal/search/terms"
)

// reader stands at the postings of a term, with positions.
type reader struct {
	segment.PostingsIterator
	at  segment.Posting // nil at the end
	err error
}

func (r *reader) next() { r.at, r.err = r.Next() }

// to reports whether the document is there. Documents come in their order.
func (r *reader) to(doc uint32) bool {
	for r.at != nil && r.at.Number() < uint64(doc) && r.err == nil {
		r.next()
	}
	return r.at != nil && r.at.Number() == uint64(doc)
}

// nearlyAll is the part of a term's documents, 1-1/nearlyAll, from which on all of its postings are read in place of some: that is faster for each of them.
const nearlyAll = 8

// phrase are the documents that have a term of each slot, one position after the other, in a field.
func (m *matcher) phrase(field string, slots []terms.Slot, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	var distinct []terms.Slot
	place := make([]int, len(slots)) // of each slot among those that are different: a word that a phrase has twice is read once
	known := map[string]int{}
	for i, s := range slots {
		key := strings.Join(s, " ")
		at, seen := known[key]
		if !seen {
			at = len(distinct)
			known[key] = at
			distinct = append(distinct, s)
		}
		place[i] = at
	}
	docs := within
	for _, s := range distinct {
		var err error
		if docs, err = m.slot(field, s, docs); err != nil {
			return nil, err
		}
	}
	if len(slots) == 1 || docs.IsEmpty() {
		return docs, nil
	}
	if len(slots) == 0 {
		return roaring.New(), nil
	}
	readers := make([][]*reader, len(distinct))
	for i, s := range distinct {
		for _, t := range s {
			p, err := m.postings(field, t)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			if some := roaring.And(p.docs, docs); !some.IsEmpty() {
				if all := p.docs.GetCardinality(); some.GetCardinality() >= all-all/nearlyAll {
					some = p.docs
				}
				r := &reader{PostingsIterator: p.in(some, true)}
				if r.next(); r.err != nil {
					return nil, r.err
				}
				readers[i] = append(readers[i], r)
			}
		}
	}
	found, err := m.following(docs, readers, place)
	for _, list := range readers {
		for _, r := range list {
			done(r.PostingsIterator)
		}
	}
	return found, err
}

// following leaves the documents in which the places of a phrase follow each other. All of them have one term for each place at least.
func (m *matcher) following(docs *roaring.Bitmap, readers [][]*reader, place []int) (*roaring.Bitmap, error) {
	var kept []uint32
	positions := make([][]uint64, len(readers))
	at := make([]int, len(place))
	var failed error
	err := each(m.ctx, docs, func(doc uint32, _ int) {
		for i, list := range readers {
			positions[i] = positions[i][:0]
			several := false
			for _, r := range list {
				if r.to(doc) {
					several = several || len(positions[i]) > 0
					positions[i] = positionsOf(positions[i], r.at.Locations())
				}
				if r.err != nil {
					failed = r.err
				}
			}
			if several {
				slices.Sort(positions[i])
			}
		}
		if follows(positions, place, at) {
			kept = append(kept, doc)
		}
	})
	if err == nil {
		err = failed
	}
	found := roaring.New()
	found.AddMany(kept)
	return found, err
}

// follows reports whether a phrase is somewhere in a document; positions are in their order. at is room for a number for each place.
func follows(positions [][]uint64, place, at []int) bool {
	lead := 0 // the place with the fewest positions
	for i := range place {
		if len(positions[place[i]]) < len(positions[place[lead]]) {
			lead = i
		}
	}
	clear(at)
	for _, p := range positions[place[lead]] {
		if p <= uint64(lead) {
			continue
		}
		first, all := p-uint64(lead), true
		for i := 0; i < len(place) && all; i++ {
			if i == lead {
				continue
			}
			list, want := positions[place[i]], first+uint64(i)
			for at[i] < len(list) && list[at[i]] < want {
				at[i]++
			}
			if at[i] == len(list) {
				return false // nor for later positions
			}
			all = list[at[i]] == want
		}
		if all {
			return true
		}
	}
	return false
}

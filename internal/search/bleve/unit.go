package bleve

import (
	"context"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// unit is a segment of bleve, which never changes: documents with numbers from 0. A part has some, of very different sizes. One goroutine at a
// time uses it.
type unit struct {
	*view
	id           uint64 // of the part's segments
	segment      segment.Segment
	all          *roaring.Bitmap // documents that are not deleted
	deleted      *roaring.Bitmap // nil if none is
	dictionaries map[string]segment.TermDictionary
	known        map[posting]*postings
}

// posting names the documents that have a term in a field.
type posting struct{ field, term string }

// postings are the documents that have a term in a field.
type postings struct {
	list segment.PostingsList
	docs *roaring.Bitmap // must not be changed
}

// unitsOf are the segments of a view that have documents.
func unitsOf(v *view) (list []*unit, err error) {
	snapshot, ok := v.reader.(*scorch.IndexSnapshot)
	if !ok {
		return nil, fmt.Errorf("the index is read by %T, want one of scorch", v.reader)
	}
	for _, s := range snapshot.Segments() {
		u := &unit{view: v, id: s.Id(), segment: s.Segment(), all: s.DocNumbersLive(), dictionaries: map[string]segment.TermDictionary{}, known: map[posting]*postings{}}
		if deleted := s.Deleted(); deleted != nil && !deleted.IsEmpty() {
			u.deleted = deleted
		}
		if !u.all.IsEmpty() {
			list = append(list, u)
		}
	}
	return list, nil
}

// size is above the numbers of all documents.
func (u *unit) size() int { return int(u.segment.Count()) }

func (u *unit) dictionary(field string) (segment.TermDictionary, error) {
	if d := u.dictionaries[field]; d != nil {
		return d, nil
	}
	d, err := u.segment.Dictionary(field)
	if err == nil {
		u.dictionaries[field] = d
	}
	return d, err
}

// postings are those of a term in a field; nil if no document has it.
func (u *unit) postings(field, term string) (*postings, error) {
	key := posting{field, term}
	if p, known := u.known[key]; known {
		return p, nil
	}
	d, err := u.dictionary(field)
	if err != nil {
		return nil, err
	}
	list, err := d.PostingsList([]byte(term), u.deleted, nil)
	if err != nil {
		return nil, err
	}
	var p *postings
	if list.Count() > 0 {
		docs, err := docsOf(list)
		if err != nil {
			return nil, err
		}
		p = &postings{list, docs}
	}
	u.known[key] = p
	return p, nil
}

func docsOf(list segment.PostingsList) (*roaring.Bitmap, error) {
	it := list.Iterator(false, false, false, nil)
	if known, ok := it.(segment.OptimizablePostingsIterator); ok {
		if n, one := known.DocNum1Hit(); one {
			return roaring.BitmapOf(uint32(n)), nil
		}
		if docs := known.ActualBitmap(); docs != nil {
			return docs, nil
		}
	}
	docs := roaring.New()
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return docs, err
		}
		docs.Add(uint32(p.Number()))
	}
}

// iterators are those that were used before: they have room that a new one must allocate.
var iterators sync.Pool

// in reads the postings of documents, which must be some of those that have the term. Who does not need it any more gives it to done.
func (p *postings) in(docs *roaring.Bitmap, positions bool) segment.PostingsIterator {
	old, _ := iterators.Get().(segment.PostingsIterator)
	it := p.list.Iterator(true, true, positions, old)
	if docs == p.docs {
		return it
	}
	known, ok := it.(segment.OptimizablePostingsIterator)
	if !ok {
		return &some{it, docs}
	}
	if _, one := known.DocNum1Hit(); !one {
		known.ReplaceActual(docs)
	} else if docs.IsEmpty() {
		return &some{it, docs}
	}
	return it
}

// done gives an iterator back.
func done(it segment.PostingsIterator) {
	if s, ok := it.(*some); ok {
		it = s.PostingsIterator
	}
	iterators.Put(it)
}

// some leaves of postings those of some documents.
type some struct {
	segment.PostingsIterator
	docs *roaring.Bitmap
}

func (s *some) Next() (segment.Posting, error) {
	for {
		p, err := s.PostingsIterator.Next()
		if err != nil || p == nil || s.docs.Contains(uint32(p.Number())) {
			return p, err
		}
	}
}

// checkEvery is the number of documents after which a loop looks whether its caller still waits.
const checkEvery = 4096

// each calls fn with documents, and with the place of each among them. It ends early if nobody waits any more.
func each(ctx context.Context, docs *roaring.Bitmap, fn func(doc uint32, at int)) error {
	var room [checkEvery]uint32
	it := docs.ManyIterator()
	for at := 0; ; {
		n := it.NextMany(room[:])
		if n == 0 {
			return ctx.Err()
		}
		for _, doc := range room[:n] {
			fn(doc, at)
			at++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

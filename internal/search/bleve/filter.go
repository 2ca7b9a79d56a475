package bleve

import (
	"fmt"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// orders reads the orders of documents.
type orders struct {
	values index.DocValueReader
	last   order
	ok     bool
	visit  index.DocValueVisitor
}

func newOrders(r index.IndexReader) (*orders, error) {
	values, err := r.DocValueReader([]string{fieldOrder})
	if err != nil {
		return nil, err
	}
	o := &orders{values: values}
	o.visit = func(_ string, value []byte) { o.last, o.ok = decodeOrder(value) }
	return o, nil
}

func (o *orders) of(id index.IndexInternalID) (order, error) {
	o.ok = false
	if err := o.values.VisitDocValues(id, o.visit); err != nil {
		return order{}, err
	}
	if !o.ok {
		return order{}, fmt.Errorf("a document of the index has no order: delete the index, and fill it again")
	}
	return o.last, nil
}

// filter leaves of a searcher the documents whose date and score are in intervals.
type filter struct {
	search.Searcher
	orders *orders
	ranges []query.Range
}

func newFilter(r index.IndexReader, s search.Searcher, ranges []query.Range) (search.Searcher, error) {
	o, err := newOrders(r)
	if err != nil {
		return nil, closing(err, s)
	}
	return &filter{s, o, ranges}, nil
}

func (f *filter) keeps(id index.IndexInternalID) (bool, error) {
	o, err := f.orders.of(id)
	if err != nil {
		return false, err
	}
	for _, r := range f.ranges {
		n := o.score
		if r.Field == query.Date {
			n = float64(o.seconds)
		}
		if !r.Contains(n) {
			return false, nil
		}
	}
	return true, nil
}

// from passes on the next match, from one on, that is in the intervals.
func (f *filter) from(ctx *search.SearchContext, m *search.DocumentMatch, err error) (*search.DocumentMatch, error) {
	for m != nil && err == nil {
		keeps, errKeeps := f.keeps(m.IndexInternalID)
		if keeps || errKeeps != nil {
			return m, errKeeps
		}
		ctx.DocumentMatchPool.Put(m)
		m, err = f.Searcher.Next(ctx)
	}
	return m, err
}

// Next implements search.Searcher.
func (f *filter) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	m, err := f.Searcher.Next(ctx)
	return f.from(ctx, m, err)
}

// Advance implements search.Searcher.
func (f *filter) Advance(ctx *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	m, err := f.Searcher.Advance(ctx, to)
	return f.from(ctx, m, err)
}

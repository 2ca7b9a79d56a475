package bleve

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	base "github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// builder makes searchers of one index.
type builder struct {
	ctx      context.Context
	reader   index.IndexReader
	crawl    string
	weights  *weights
	analyser *terms.Analyser
}

var (
	scored   = search.SearcherOptions{}
	unscored = search.SearcherOptions{Score: "none"}
)

// query is the searcher of a query: what matches, with scores of words in texts and, beside them, in titles.
func (b *builder) query(q query.Query) (search.Searcher, error) {
	must, err := b.node(q.Root, scored)
	if err != nil {
		return nil, err
	}
	titles, err := b.slots(fieldTitle, b.weights.slots, base.TitleBoost, false)
	if err != nil {
		return nil, closing(err, must)
	}
	if len(titles) == 0 {
		return must, nil
	}
	should, err := searcher.NewDisjunctionSearcher(b.ctx, b.reader, titles, 0, scored)
	if err != nil {
		return nil, closing(err, append(titles, must)...)
	}
	return searcher.NewBooleanSearcher(b.ctx, b.reader, must, should, nil, scored)
}

// slots are searchers of the slots of which a field has a term at all.
func (b *builder) slots(field string, slots []terms.Slot, boost float64, positions bool) (list []search.Searcher, err error) {
	for _, s := range slots {
		opened, err := newSlot(b.ctx, b.reader, field, s, b.weights.of(field, boost), b.weights.average(field), positions)
		if err != nil {
			return nil, closing(err, list...)
		}
		if len(opened.cursors) > 0 {
			list = append(list, opened)
		}
	}
	return list, nil
}

// closing closes searchers that an error leaves.
func closing(err error, list ...search.Searcher) error {
	for _, s := range list {
		_ = s.Close()
	}
	return err
}

func (b *builder) all() (search.Searcher, error) {
	return searcher.NewMatchAllSearcher(b.ctx, b.reader, 1, unscored)
}

func (b *builder) none() (search.Searcher, error) { return searcher.NewMatchNoneSearcher(b.reader) }

func (b *builder) node(n query.Node, o search.SearcherOptions) (search.Searcher, error) {
	switch n := n.(type) {
	case nil:
		return b.all()
	case query.And:
		return b.and(n, o)
	case query.Not:
		return b.and(query.And{n}, o)
	case query.Range:
		if n.Field != query.Status {
			return b.and(query.And{n}, o)
		}
		return b.status(n)
	case query.Or:
		list, err := b.list(n, o)
		if err != nil {
			return nil, err
		}
		s, err := searcher.NewDisjunctionSearcher(b.ctx, b.reader, list, 1, o)
		if err != nil {
			return nil, closing(err, list...)
		}
		return s, nil
	case query.Words:
		return b.words(fieldText, b.analyser.Phrase(n.Text, terms.Classes))
	case query.Is:
		return b.is(n)
	}
	return nil, fmt.Errorf("a query has a node of unknown type %T", n)
}

func (b *builder) list(nodes []query.Node, o search.SearcherOptions) (list []search.Searcher, err error) {
	for _, n := range nodes {
		s, err := b.node(n, o)
		if err != nil {
			return nil, closing(err, list...)
		}
		list = append(list, s)
	}
	return list, nil
}

// and joins nodes. What is denied is taken out of the others; dates and scores are looked at last, of what the others leave.
func (b *builder) and(nodes query.And, o search.SearcherOptions) (search.Searcher, error) {
	var positive, denied []query.Node
	var ranges []query.Range
	for _, n := range nodes {
		switch n := n.(type) {
		case query.Not:
			denied = append(denied, n.Of)
		case query.Range:
			if n.Field != query.Status {
				ranges = append(ranges, n)
				continue
			}
			positive = append(positive, n)
		default:
			positive = append(positive, n)
		}
	}
	s, err := b.conjunction(positive, o)
	if err != nil {
		return nil, err
	}
	if len(denied) > 0 {
		list, err := b.list(denied, unscored)
		if err != nil {
			return nil, closing(err, s)
		}
		not, err := searcher.NewDisjunctionSearcher(b.ctx, b.reader, list, 1, unscored)
		if err != nil {
			return nil, closing(err, append(list, s)...)
		}
		without, err := searcher.NewBooleanSearcher(b.ctx, b.reader, s, nil, not, o)
		if err != nil {
			return nil, closing(err, s, not)
		}
		s = without
	}
	if len(ranges) == 0 {
		return s, nil
	}
	return newFilter(b.reader, s, ranges)
}

func (b *builder) conjunction(nodes []query.Node, o search.SearcherOptions) (search.Searcher, error) {
	list, err := b.list(nodes, o)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return b.all()
	case len(list) == 1:
		return list[0], nil
	}
	s, err := searcher.NewConjunctionSearcher(b.ctx, b.reader, list, o)
	if err != nil {
		return nil, closing(err, list...)
	}
	return s, nil
}

// words is the searcher of a word or a phrase in a field.
func (b *builder) words(field string, slots []terms.Slot) (search.Searcher, error) {
	var list []*slot
	known := map[string]*slot{} // a word that a phrase has twice is read once
	weight, average := b.weights.of(field, 1), b.weights.average(field)
	for _, s := range slots {
		key := strings.Join(s, " ")
		if same := known[key]; same != nil {
			list = append(list, same)
			continue
		}
		opened, err := newSlot(b.ctx, b.reader, field, s, weight, average, len(slots) > 1)
		if err != nil {
			return nil, closing(err, newPhrase(list))
		}
		known[key] = opened
		list = append(list, opened)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return newPhrase(list), nil
}

func (b *builder) is(n query.Is) (search.Searcher, error) {
	switch {
	case n.Field == query.Crawl:
		if n.Value == b.crawl {
			return b.all()
		}
		return b.none()
	case n.Field == query.Author:
		var slots []terms.Slot
		for _, name := range b.analyser.Names(n.Value) {
			slots = append(slots, terms.Slot{name})
		}
		return b.words(fieldAuthor, slots)
	case n.Field == query.Type && query.IsMedia(n.Value):
		return b.keyword(fieldMIME, n.Value)
	}
	return b.keyword(keywords[n.Field], n.Value)
}

func (b *builder) keyword(field, value string) (search.Searcher, error) {
	return searcher.NewTermSearcher(b.ctx, b.reader, value, field, 1, unscored)
}

// status is the searcher of an interval of status codes: there are few different ones.
func (b *builder) status(r query.Range) (_ search.Searcher, err error) {
	dictionary, err := b.reader.FieldDict(fieldStatus)
	if err != nil {
		return nil, err
	}
	var list []string
	for e, err := dictionary.Next(); e != nil || err != nil; e, err = dictionary.Next() {
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(e.Term); err == nil && r.Contains(float64(n)) {
			list = append(list, e.Term)
		}
	}
	if err := dictionary.Close(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return b.none()
	}
	return searcher.NewMultiTermSearcher(b.ctx, b.reader, list, fieldStatus, 1, unscored, false)
}

package bleve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// phrases are the slots of the words that a query has, which are made once for all units.
type phrases struct{ words, names map[string][]terms.Slot }

func phrasesOf(q query.Query) phrases {
	a := terms.New()
	p := phrases{map[string][]terms.Slot{}, map[string][]terms.Slot{}}
	q.Walk(func(n query.Node, _ bool) {
		switch n := n.(type) {
		case query.Words:
			p.words[n.Text] = a.Phrase(n.Text, terms.Classes)
		case query.Is:
			if n.Field != query.Author {
				return
			}
			var slots []terms.Slot
			for _, name := range a.Names(n.Value) {
				slots = append(slots, terms.Slot{name})
			}
			p.names[n.Value] = slots
		}
	})
	return p
}

// matched is what a node of a query matches in a unit, of the documents that it was asked for.
type matched struct {
	docs  *roaring.Bitmap // must not be changed
	words []terms.Slot    // of a word or a phrase
	of    []*matched      // nodes of an And, but for those that are denied, and of an Or
	any   bool            // that one of them is enough
}

// matcher finds what nodes match in a unit, as sets of numbers. What a node matches is looked for only within what others leave.
type matcher struct {
	ctx context.Context
	*unit
	phrases
	values *columns
}

func (m *matcher) node(n query.Node, within *roaring.Bitmap) (*matched, error) {
	switch n := n.(type) {
	case nil:
		return &matched{docs: within}, nil
	case query.And:
		return m.and(n, within)
	case query.Or:
		r := &matched{docs: roaring.New(), any: true}
		for _, child := range n {
			c, err := m.node(child, within)
			if err != nil {
				return nil, err
			}
			r.of = append(r.of, c)
			r.docs = roaring.Or(r.docs, c.docs)
		}
		return r, nil
	case query.Not:
		denied, err := m.node(n.Of, within)
		if err != nil {
			return nil, err
		}
		return &matched{docs: roaring.AndNot(within, denied.docs)}, nil
	case query.Words:
		slots := m.words[n.Text]
		docs, err := m.phrase(fieldText, slots, within)
		return &matched{docs: docs, words: slots}, err
	case query.Is:
		docs, err := m.is(n, within)
		return &matched{docs: docs}, err
	case query.Range:
		docs, err := m.interval(n, within)
		return &matched{docs: docs}, err
	}
	return nil, fmt.Errorf("a query has a node of unknown type %T", n)
}

// and narrows what is matched node by node, those that cost least first.
func (m *matcher) and(nodes query.And, within *roaring.Bitmap) (*matched, error) {
	r := &matched{docs: within, of: make([]*matched, len(nodes))}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.cost(nodes[a]), m.cost(nodes[b])) })
	for _, i := range order {
		c, err := m.node(nodes[i], r.docs)
		if err != nil {
			return nil, err
		}
		r.docs = c.docs
		r.of[i] = c // in the order of the query, in which scores are added
	}
	return r, nil
}

// cost orders nodes: sets, what joins sets, what looks at the values of each document, what looks at its positions.
func (m *matcher) cost(n query.Node) int {
	switch n := n.(type) {
	case query.Words:
		if len(m.words[n.Text]) > 1 {
			return 3
		}
	case query.Range:
		if n.Field != query.Status {
			return 2
		}
	case query.Or, query.Not:
		return 1
	}
	return 0
}

func (m *matcher) is(n query.Is, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	switch {
	case n.Field == query.Crawl:
		if n.Value == m.crawl {
			return within, nil
		}
		return roaring.New(), nil
	case n.Field == query.Author:
		return m.phrase(fieldAuthor, m.names[n.Value], within)
	case n.Field == query.Type && query.IsMedia(n.Value):
		return m.slot(fieldMIME, terms.Slot{n.Value}, within)
	}
	return m.slot(keywords[n.Field], terms.Slot{n.Value}, within)
}

// slot are the documents that have one of some terms in a field.
func (m *matcher) slot(field string, slot terms.Slot, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	var list []*roaring.Bitmap
	for _, t := range slot {
		p, err := m.postings(field, t)
		if err != nil {
			return nil, err
		}
		if p != nil {
			list = append(list, p.docs)
		}
	}
	var docs *roaring.Bitmap
	switch len(list) {
	case 0:
		return roaring.New(), nil
	case 1:
		docs = list[0]
	default:
		docs = roaring.FastOr(list...)
	}
	if within == m.all {
		return docs, nil
	}
	return roaring.And(docs, within), nil
}

func (m *matcher) interval(r query.Range, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	if r.Field == query.Status {
		return m.status(r, within)
	}
	docs, err := m.ranged(r, within)
	if err != nil || docs != nil {
		return docs, err
	}
	values, done, err := m.values.of(m.ctx, m.unit, within)
	if err != nil {
		return nil, err
	}
	defer done()
	docs = roaring.New()
	var kept []uint32
	err = each(m.ctx, within, func(doc uint32, at int) {
		o := &values.orders[values.row(doc, at)]
		n := o.score
		if r.Field == query.Date {
			n = float64(o.seconds)
		}
		if r.Contains(n) {
			kept = append(kept, doc)
		}
	})
	docs.AddMany(kept)
	return docs, err
}

// ranged answers an interval of dates that has all of the unit's month or nothing of it, without a look at its documents; nil if it does not.
func (m *matcher) ranged(r query.Range, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	if r.Field != query.Date || m.month == noMonth {
		return nil, nil
	}
	first, last, ok := bounds(m.month)
	switch {
	case !ok:
		return nil, nil
	case r.Contains(first) && r.Contains(last):
		return within, nil
	case last < r.Low || first > r.High:
		return roaring.New(), nil
	}
	return nil, nil
}

// status joins the codes in an interval: there are few different ones.
func (m *matcher) status(r query.Range, within *roaring.Bitmap) (*roaring.Bitmap, error) {
	d, err := m.dictionary(fieldStatus)
	if err != nil {
		return nil, err
	}
	var list terms.Slot
	codes := d.AutomatonIterator(nil, nil, nil)
	for e, err := codes.Next(); e != nil || err != nil; e, err = codes.Next() {
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(e.Term); err == nil && r.Contains(float64(n)) {
			list = append(list, e.Term)
		}
	}
	return m.slot(fieldStatus, list, within)
}

// bounds are the first and the last second of a month.
func bounds(month string) (first, last float64, ok bool) {
	from, err := time.Parse("2006-01", month)
	return float64(from.Unix()), float64(from.AddDate(0, 1, 0).Unix() - 1), err == nil
}

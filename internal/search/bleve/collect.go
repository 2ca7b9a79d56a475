package bleve

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	base "github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// found is a match in a unit.
type found struct {
	rank  float64
	order order
	doc   uint32
	*unit
}

// compare puts what ranks higher first; of the same rank what is newer.
func (a *found) compare(b *found) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.order.seconds, a.order.seconds), cmp.Compare(b.order.tie, a.order.tie))
}

// best is a heap of what ranks highest, with the lowest of them on top.
type best struct {
	list []found
	size int
}

func (b *best) Len() int           { return len(b.list) }
func (b *best) Less(i, j int) bool { return b.list[i].compare(&b.list[j]) > 0 }
func (b *best) Swap(i, j int)      { b.list[i], b.list[j] = b.list[j], b.list[i] }
func (b *best) Push(x any)         { b.list = append(b.list, x.(found)) }
func (b *best) Pop() any {
	last := b.list[len(b.list)-1]
	b.list = b.list[:len(b.list)-1]
	return last
}

func (b *best) add(f found) {
	switch {
	case b.size == 0:
	case len(b.list) < b.size:
		heap.Push(b, f)
	case f.compare(&b.list[0]) < 0:
		b.list[0] = f
		heap.Fix(b, 0)
	}
}

// collected is what one unit has found.
type collected struct {
	total         int
	best          best
	keys, domains map[string]int
}

// collector searches in units.
type collector struct {
	query   query.Query
	phrases phrases
	weights *weights
	credits map[uint64]float64 // of URLs by their hashes
	columns *columns
	wanted  int  // documents that rank highest
	counted bool // that facets are wanted
	low     *lowest
	roots   []*matched // of units that were searched before, by their numbers
}

// unit searches in one, by its number.
func (c *collector) unit(ctx context.Context, i int, u *unit) (_ *collected, err error) {
	root := c.roots[i]
	if root == nil {
		m := matcher{ctx, u, c.phrases, c.columns}
		if root, err = m.node(c.query.Root, u.all); err != nil {
			return nil, err
		}
		c.roots[i] = root
	}
	r := &collected{total: int(root.docs.GetCardinality()), best: best{size: c.wanted}}
	if r.total == 0 || c.wanted == 0 && !c.counted {
		return r, nil
	}
	t, done, err := c.columns.of(ctx, u, root.docs)
	if err != nil {
		return nil, err
	}
	defer done()
	if c.counted {
		if r.keys, err = count(ctx, u, t, root.docs, &t.keys); err == nil {
			r.domains, err = count(ctx, u, t, root.docs, &t.domains)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.wanted == 0 {
		return r, nil
	}
	return r, c.rank(ctx, u, t, root, r)
}

// rank scores what a query matches, and keeps what ranks highest.
func (c *collector) rank(ctx context.Context, u *unit, t *table, root *matched, r *collected) error {
	if len(c.weights.slots) == 0 {
		return each(ctx, root.docs, func(doc uint32, at int) { r.best.add(found{0, t.orders[t.row(doc, at)], doc, u}) })
	}
	s := scorer{ctx, u, c.weights, newSums(u.size()), roaring.New(), t, c.wanted, c.low, 0}
	defer func() { s.sums.free(s.seen) }()
	if err := c.credit(&s, root.docs); err != nil {
		return err
	}
	list := wordsOf(root, root.docs)
	for _, slot := range c.weights.slots {
		list = append(list, word{field: fieldTitle, terms: slot, boost: boosts[fieldTitle], within: root.docs})
	}
	candidates, err := s.score(list, root.docs)
	if err != nil {
		return err
	}
	low := c.low.get()
	err = each(ctx, candidates, func(doc uint32, at int) {
		o := &t.orders[t.row(doc, at)]
		if rank := s.sums[doc] * base.Factor(o.score); rank >= low {
			r.best.add(found{rank, *o, doc, u})
		}
	})
	if err == nil {
		c.low.add(r.best.list)
	}
	return err
}

// credit gives documents what anchor texts say of their URLs.
func (c *collector) credit(s *scorer, docs *roaring.Bitmap) error {
	if len(c.credits) == 0 {
		return nil
	}
	for _, credit := range c.credits {
		s.credit = max(s.credit, base.AnchorBoost*credit)
	}
	give := func(doc uint32, credit float64) {
		s.sums[doc] = base.AnchorBoost * credit
		s.seen.Add(doc)
	}
	if s.table.whole {
		for url, credit := range c.credits {
			s.table.of(url, func(doc uint32) {
				if docs.Contains(doc) {
					give(doc, credit)
				}
			})
		}
		return nil
	}
	return each(s.ctx, docs, func(doc uint32, at int) {
		if credit, ok := c.credits[s.table.orders[at].url]; ok {
			give(doc, credit)
		}
	})
}

// count counts the values of documents in a column.
func count(ctx context.Context, u *unit, t *table, docs *roaring.Bitmap, c *column) (map[string]int, error) {
	totals := c.total
	if t.whole && (docs != u.all || u.deleted != nil) {
		totals = make([]int, len(c.values))
		if err := each(ctx, docs, func(doc uint32, _ int) { totals[c.of[doc]]++ }); err != nil {
			return nil, err
		}
	}
	counts := make(map[string]int, len(c.values))
	for i, n := range totals {
		if i > 0 && n > 0 {
			counts[c.values[i]] = n
		}
	}
	return counts, nil
}

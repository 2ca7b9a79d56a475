package bleve

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"

	base "github.com/muninn-archive/muninn/internal/search"
)

// found is a match in a view.
type found struct {
	rank  float64
	order order
	id    index.IndexInternalID
	*view
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
		f.id = slices.Clone(f.id)
		heap.Push(b, f)
	case f.compare(&b.list[0]) < 0:
		f.id = append(b.list[0].id[:0], f.id...)
		b.list[0] = f
		heap.Fix(b, 0)
	}
}

// collected is what one index has found.
type collected struct {
	total         int
	best          best
	keys, domains map[string]*int
}

// checkEvery is the number of matches after which a collector looks whether its caller still waits.
const checkEvery = 1024

// collect runs a searcher to its end. anchors credits the hashes of URLs.
func collect(ctx context.Context, v view, s search.Searcher, anchors map[uint64]float64, size int, counted bool) (*collected, error) {
	c := &collected{best: best{size: size}, keys: map[string]*int{}, domains: map[string]*int{}}
	fields := []string{fieldOrder}
	if counted {
		fields = append(fields, fieldKey, fieldSite)
	}
	values, err := v.reader.DocValueReader(fields)
	if err != nil {
		return nil, err
	}
	var o order
	visit := func(field string, value []byte) {
		switch field {
		case fieldOrder:
			o, _ = decodeOrder(value)
		case fieldKey:
			count(c.keys, value)
		case fieldSite:
			count(c.domains, value)
		}
	}
	pool := &search.SearchContext{DocumentMatchPool: search.NewDocumentMatchPool(s.DocumentMatchPoolSize()+8, 0), IndexReader: v.reader}
	for {
		if c.total%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m, err := s.Next(pool)
		if err != nil || m == nil {
			return c, err
		}
		if err := values.VisitDocValues(m.IndexInternalID, visit); err != nil {
			return nil, err
		}
		c.total++
		rank := (m.Score + base.AnchorBoost*anchors[o.url]) * base.Factor(o.score)
		c.best.add(found{rank, o, m.IndexInternalID, &v})
		pool.DocumentMatchPool.Put(m)
	}
}

// count counts a value. Most were seen before, and cost no memory.
func count(counts map[string]*int, value []byte) {
	if n := counts[string(value)]; n != nil {
		*n++
		return
	}
	n := 1
	counts[string(value)] = &n
}

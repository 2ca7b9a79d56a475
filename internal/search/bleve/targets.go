package bleve

import (
	"cmp"
	"context"
	"slices"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"

	base "github.com/muninn-archive/muninn/internal/search"
)

// target is a URL, by its hash, with the score of an anchor text that leads to it.
type target struct {
	url   uint64
	score float64
}

// compare puts what scores higher first.
func (a target) compare(b target) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.url, b.url))
}

// collectTargets are the URLs with the highest scores among the anchor texts that a searcher finds.
func collectTargets(ctx context.Context, r index.IndexReader, s search.Searcher) ([]target, error) {
	values, err := r.DocValueReader([]string{fieldTarget})
	if err != nil {
		return nil, err
	}
	const room = 8 * base.MaxAnchorTargets
	var list []target
	var url uint64
	visit := func(_ string, value []byte) { url = parseTarget(value) }
	pool := &search.SearchContext{DocumentMatchPool: search.NewDocumentMatchPool(s.DocumentMatchPoolSize()+8, 0), IndexReader: r}
	low := 0.0 // what scores lower is not among the highest
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m, err := s.Next(pool)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return distinct(list), nil
		}
		if m.Score >= low {
			if err := values.VisitDocValues(m.IndexInternalID, visit); err != nil {
				return nil, err
			}
			list = append(list, target{url, m.Score})
		}
		pool.DocumentMatchPool.Put(m)
		if len(list) == room {
			if list = distinct(list); len(list) == base.MaxAnchorTargets {
				low = list[len(list)-1].score
			}
		}
	}
}

// distinct are the URLs with the highest scores, each once.
func distinct(list []target) []target {
	slices.SortFunc(list, target.compare)
	seen := map[uint64]bool{}
	list = slices.DeleteFunc(list, func(t target) bool {
		again := seen[t.url]
		seen[t.url] = true
		return again
	})
	return list[:min(len(list), base.MaxAnchorTargets)]
}

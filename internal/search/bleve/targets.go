package bleve

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

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

// parseTarget reads the hash of a URL.
func parseTarget(value []byte) uint64 {
	url, _ := strconv.ParseUint(string(value), 36, 64)
	return url
}

// Bounds of the words of a query that are searched for in anchor texts, the rarest first: a common word credits half of all URLs.
const (
	// maxAnchorWords is their number.
	maxAnchorWords = 8
	// maxAnchorTexts is the number of anchor texts that have them, all together. The rarest word is searched for anyway.
	maxAnchorTexts = 500_000
)

// targets are the URLs with the highest scores among the anchor texts of a unit.
func targets(ctx context.Context, u *unit, w *weights, values *columns) ([]target, error) {
	docs := roaring.New()
	var list []word
	for _, slot := range w.rarest(maxAnchorWords, maxAnchorTexts) {
		for _, t := range slot {
			p, err := u.postings(fieldText, t)
			if err != nil {
				return nil, err
			}
			if p != nil {
				docs.Or(p.docs)
			}
		}
		list = append(list, word{field: fieldText, terms: slot, boost: 1})
	}
	if docs.IsEmpty() {
		return nil, nil
	}
	t, err := values.of(ctx, u, docs)
	if err != nil {
		return nil, err
	}
	s := scorer{ctx: ctx, unit: u, weights: w, sums: newSums(u.size()), table: t}
	defer s.sums.free(docs)
	for i := range list {
		list[i].within = docs
		if err := s.add(&list[i], docs, false); err != nil {
			return nil, err
		}
	}
	const full = 8 * base.MaxAnchorTargets
	var best []target
	var last *target // what comes behind it is not among the highest
	err = each(ctx, docs, func(doc uint32, at int) {
		score := s.sums[doc]
		if last != nil && score < last.score {
			return
		}
		found := target{t.targets[t.row(doc, at)], score}
		if last != nil && found.compare(*last) >= 0 {
			return
		}
		best = append(best, found)
		if len(best) == full {
			if best = distinct(best); len(best) == base.MaxAnchorTargets {
				least := best[len(best)-1]
				last = &least
			}
		}
	})
	return distinct(best), err
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

package bleve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"sync"

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

// targets are the URLs with the highest scores among the anchor texts of a unit. low is a score that so many URLs as are credited are known to reach, in all units.
func targets(ctx context.Context, u *unit, w *weights, values *columns, low *lowest) ([]target, error) {
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
		list = append(list, word{field: fieldText, terms: slot, boost: 1, within: u.all})
	}
	if docs.IsEmpty() {
		return nil, nil
	}
	t, done, err := values.of(ctx, u, docs)
	if err != nil {
		return nil, err
	}
	defer done()
	s := scorer{ctx: ctx, unit: u, weights: w, sums: newSums(u.size()), seen: roaring.New(), table: t, low: low}
	defer func() { s.sums.free(s.seen) }()
	if !t.whole {
		for i := range list {
			if err := s.add(&list[i], nil); err != nil {
				return nil, err
			}
		}
		return s.highest(docs)
	}
	return s.highestByWords(list)
}

// highestByWords adds words to the scores of anchor texts, those that can add most first, and looks before each that has many postings whether it can bring new URLs
// among the highest at all.
func (s *scorer) highestByWords(list []word) ([]target, error) {
	rest := make([]float64, len(list)+1)
	counts := make([]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		most, n, err := s.boundHere(&list[i])
		if err != nil {
			return nil, err
		}
		rest[i], counts[i] = rest[i+1]+most, n
	}
	var left *roaring.Bitmap
	for i := range list {
		if left == nil && i > 0 && counts[i] > int(s.seen.GetCardinality()) {
			if _, err := s.highest(s.seen); err != nil {
				return nil, err
			}
		}
		if left == nil && rest[i]*rounding < s.low.get() {
			left = s.seen
		}
		if err := s.add(&list[i], left); err != nil {
			return nil, err
		}
	}
	return s.highest(s.seen)
}

// highest are the URLs with the highest scores so far among some anchor texts, which are those of the table's rows if it does not have all.
func (s *scorer) highest(docs *roaring.Bitmap) ([]target, error) {
	const full = 8 * base.MaxAnchorTargets
	var best []target
	last := target{score: s.low.get(), url: math.MaxUint64} // what comes behind it is not among the highest
	err := each(s.ctx, docs, func(doc uint32, at int) {
		score := s.sums[doc]
		if score < last.score {
			return
		}
		found := target{s.table.targets[s.table.row(doc, at)], score}
		if found.compare(last) >= 0 {
			return
		}
		best = append(best, found)
		if len(best) == full {
			if best = distinct(best); len(best) == base.MaxAnchorTargets {
				last = best[len(best)-1]
			}
		}
	})
	if best = distinct(best); len(best) == base.MaxAnchorTargets {
		s.low.raise(best[len(best)-1].score)
	}
	return best, err
}

// bestTargets are the URLs with the highest scores in all units.
type bestTargets struct {
	low lowest // what all of them reach once there are enough

	mu   sync.Mutex
	list []target
}

// add adds those of a unit.
func (b *bestTargets) add(list []target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = distinct(append(b.list, list...))
	if len(b.list) == base.MaxAnchorTargets {
		b.low.raise(b.list[len(b.list)-1].score)
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

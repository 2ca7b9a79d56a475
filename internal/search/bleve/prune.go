package bleve

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	base "github.com/muninn-archive/muninn/internal/search"
)

// lowest is a rank that so many documents as are wanted are known to reach. Units share it.
type lowest struct {
	bits atomic.Uint64

	mu      sync.Mutex
	highest ranks // of all units that were searched
}

func newLowest(wanted int) *lowest { return &lowest{highest: ranks{size: wanted}} }

// add adds the documents of a unit.
func (l *lowest) add(list []found) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range list {
		if list[i].rank > l.highest.low {
			l.highest.add(list[i].rank)
		}
	}
	l.raise(l.highest.low)
}

func (l *lowest) get() float64 { return math.Float64frombits(l.bits.Load()) }

func (l *lowest) raise(rank float64) {
	for {
		old := l.bits.Load()
		if rank <= math.Float64frombits(old) || l.bits.CompareAndSwap(old, math.Float64bits(rank)) {
			return
		}
	}
}

// pruneFrom is the number of postings from which on it is worth to look which documents can still be among the highest.
const pruneFrom = 256

// rounding is more than what the order of additions changes in a sum of scores.
const rounding = 1 + 1e-9

// below reports whether documents that have no score yet cannot be among the highest any more, if the words that are left add no more than so much.
func (s *scorer) below(more float64) bool {
	return s.wanted > 0 && more*base.Factor(1)*rounding < s.low.get()
}

// prune leaves, of the documents that are left (nil: of all), those that may be among the highest if the words that are left add no more than so much; the words before
// may have added most. It returns nil while documents without a score may be among them.
func (s *scorer) prune(left *roaring.Bitmap, more, most float64) (*roaring.Bitmap, error) {
	among := left
	if among == nil {
		among = s.seen
	}
	if more < most {
		highest := ranks{size: s.wanted}
		err := each(s.ctx, among, func(doc uint32, _ int) {
			if rank := s.sums[doc] * base.Factor(s.table.orders[doc].score); rank > highest.low {
				highest.add(rank)
			}
		})
		if err != nil {
			return nil, err
		}
		s.low.raise(highest.low)
	}
	if !s.below(more) {
		return left, nil
	}
	low := s.low.get()
	var kept []uint32
	err := each(s.ctx, among, func(doc uint32, _ int) {
		if (s.sums[doc]+more)*base.Factor(s.table.orders[doc].score)*rounding >= low {
			kept = append(kept, doc)
		}
	})
	few := roaring.New()
	few.AddMany(kept)
	return few, err
}

// ranks is a heap of the highest ranks; low is the lowest of them once there are as many as its size.
type ranks struct {
	size int
	list []float64
	low  float64
}

func (r *ranks) add(rank float64) {
	if len(r.list) < r.size {
		r.list = append(r.list, rank)
		for i := len(r.list) - 1; i > 0 && r.list[i] < r.list[(i-1)/2]; i = (i - 1) / 2 {
			r.list[i], r.list[(i-1)/2] = r.list[(i-1)/2], r.list[i]
		}
	} else {
		i := 0
		for {
			child := 2*i + 1
			if child >= r.size {
				break
			}
			if child+1 < r.size && r.list[child+1] < r.list[child] {
				child++
			}
			if rank <= r.list[child] {
				break
			}
			r.list[i] = r.list[child]
			i = child
		}
		r.list[i] = rank
	}
	if len(r.list) == r.size {
		r.low = r.list[0]
	}
}

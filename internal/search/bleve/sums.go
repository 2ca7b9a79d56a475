package bleve

import (
	"math/bits"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// sums are scores by the numbers of documents, all 0 at first.
type sums []float64

// room has sums that are not used any more, by the logarithm of their capacity: units have very different sizes.
var room [bits.UintSize + 1]sync.Pool

func newSums(n int) sums {
	class := bits.Len(uint(n))
	if s, ok := room[class].Get().(*sums); ok {
		return (*s)[:n]
	}
	return make(sums, n, 1<<class)
}

// free gives sums back, of which only those of some documents are not 0.
func (s sums) free(docs *roaring.Bitmap) {
	if docs.GetCardinality()*8 > uint64(len(s)) {
		clear(s)
	} else {
		it := docs.Iterator()
		for it.HasNext() {
			s[it.Next()] = 0
		}
	}
	room[bits.Len(uint(len(s)))].Put(&s)
}

package text

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func unsorted(r *rand.Rand, n int) HashedVector {
	t := make(HashedVector, n)
	for i := range t {
		t[i] = HashedTerm{ID: r.Uint32() >> (r.IntN(4) * 8), Weight: float32(r.IntN(5))}
	}
	return t
}

// TestSorted: terms stand in the order of their hashes, each once, with the sum of its weights.
func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		v := unsorted(r, n)
		sums := map[uint32]float32{}
		for _, x := range v {
			sums[x.ID] += x.Weight
		}
		got := v.Sorted()
		if len(got) != len(sums) || !slices.IsSortedFunc(got, func(a, b HashedTerm) int { return cmp.Compare(a.ID, b.ID) }) {
			t.Fatalf("%d terms: %v", n, got)
		}
		for _, x := range got {
			if x.Weight != sums[x.ID] {
				t.Errorf("of %d terms, %x weighs %v, want %v", n, x.ID, x.Weight, sums[x.ID])
			}
		}
	}
}

func BenchmarkSorted(b *testing.B) {
	for _, n := range []int{4, 20, 60, 600} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			from := unsorted(rand.New(rand.NewPCG(1, 2)), n)
			v := make(HashedVector, n)
			b.ReportAllocs()
			for b.Loop() {
				copy(v, from)
				v.Sorted()
			}
		})
	}
}

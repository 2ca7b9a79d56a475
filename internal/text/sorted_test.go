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
		if n%2 == 0 { // as hashes are, with a few twice
			for i := range v {
				v[i].ID = r.Uint32()
				if i%10 == 9 {
					v[i].ID = v[i-5].ID
				}
			}
		}
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
	for _, n := range []int{4, 20, 60, 150, 300, 600} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var from [256]HashedVector // a processor learns the way that a sort of one list takes
			for i := range from {
				from[i] = unsorted(r, n)
				for j := range from[i] {
					from[i][j].ID = r.Uint32()
				}
			}
			v := make(HashedVector, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				copy(v, from[i%len(from)])
				v.Sorted()
			}
		})
	}
}

// TestHeaviest: the n heaviest terms stay, of equal ones the first, in their order.
func TestHeaviest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for size := range 200 {
		v := unsorted(r, size).Sorted()
		for i := range v {
			v[i].Weight = float32(1+r.IntN(1+size/4)) / 8
		}
		n := r.IntN(size + 1)
		order := slices.Clone(v)
		slices.SortStableFunc(order, func(a, b HashedTerm) int { return cmp.Compare(b.Weight, a.Weight) })
		want := order[:min(n, len(order))]
		slices.SortFunc(want, func(a, b HashedTerm) int { return cmp.Compare(a.ID, b.ID) })
		if n < len(v) {
			want = want.Unit()
		}
		if got := v.Heaviest(n); !slices.Equal(got, want) {
			t.Fatalf("the %d heaviest of %d: %v, want %v", n, len(v), got, want)
		}
	}
}

func BenchmarkHeaviest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var list [256]HashedVector // see BenchmarkSorted
	for i := range list {
		list[i] = unsorted(r, 400)
		for j := range list[i] {
			list[i][j] = HashedTerm{r.Uint32(), float32(1 + r.IntN(9)*r.IntN(9)/12)}
		}
		list[i] = list[i].Sorted().Damped()
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		list[i%len(list)].Heaviest(256)
	}
}

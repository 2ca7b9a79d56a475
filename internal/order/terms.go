package order

import (
	"cmp"
	"math"
	"slices"
)

// Terms is a sparse vector of term weights, sorted by term. Terms are known by hashes of 32 bits: that two terms of a
// page share one happens on one page in a thousand.
type Terms []Term

// Term is a term and its weight.
type Term struct {
	ID uint32
	W  float32
}

// Hash numbers a term.
func Hash(term string) uint32 {
	h := uint32(2166136261)
	for i := range len(term) {
		h = (h ^ uint32(term[i])) * 16777619
	}
	return h
}

// NewTerms makes a vector of terms and their frequencies.
func NewTerms(v map[string]float64) Terms {
	t := make(Terms, 0, len(v))
	for term, w := range v {
		t = append(t, Term{Hash(term), float32(w)})
	}
	return t.Sorted()
}

// Sorted brings terms into order, in place, and adds those up that are the same.
func (t Terms) Sorted() Terms {
	slices.SortFunc(t, func(a, b Term) int { return cmp.Compare(a.ID, b.ID) })
	out := t[:0]
	for _, x := range t {
		if n := len(out); n > 0 && out[n-1].ID == x.ID {
			out[n-1].W += x.W
			continue
		}
		out = append(out, x)
	}
	return out
}

// Add is the sum of two vectors, the second times a factor.
func (t Terms) Add(o Terms, factor float32) Terms {
	out := make(Terms, 0, len(t)+len(o))
	i, j := 0, 0
	for i < len(t) || j < len(o) {
		switch {
		case j == len(o) || i < len(t) && t[i].ID < o[j].ID:
			out = append(out, t[i])
			i++
		case i == len(t) || o[j].ID < t[i].ID:
			out = append(out, Term{o[j].ID, o[j].W * factor})
			j++
		default:
			out = append(out, Term{t[i].ID, t[i].W + o[j].W*factor})
			i, j = i+1, j+1
		}
	}
	return out
}

// Norm is the Euclidean length.
func (t Terms) Norm() float64 {
	sum := 0.0
	for _, x := range t {
		sum += float64(x.W) * float64(x.W)
	}
	return math.Sqrt(sum)
}

// Dot is the inner product.
func (t Terms) Dot(o Terms) (sum float64) {
	for i, j := 0, 0; i < len(t) && j < len(o); {
		switch {
		case t[i].ID < o[j].ID:
			i++
		case o[j].ID < t[i].ID:
			j++
		default:
			sum += float64(t[i].W) * float64(o[j].W)
			i, j = i+1, j+1
		}
	}
	return sum
}

// Cosine is the similarity of two vectors (Batsakis et al. 2009, Eq. 1), in [0,1] where no weight is negative; 0 if
// one is empty.
func Cosine(a, b Terms) float64 {
	n := a.Norm() * b.Norm()
	if n == 0 {
		return 0
	}
	return min(a.Dot(b)/n, 1)
}

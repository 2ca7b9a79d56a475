package text

import (
	"cmp"
	"math"
	"slices"
)

// Vector holds the terms of a text with their frequencies or weights.
type Vector map[string]float64

// Term is a term of a vector in the form of a list.
type Term struct {
	Text   string  `json:"text"` // stemmed and folded
	Weight float64 `json:"weight"`
}

// VectorOf makes a vector of a list of terms.
func VectorOf(terms []Term) Vector {
	v := make(Vector, len(terms))
	for _, t := range terms {
		v[t.Text] = t.Weight
	}
	return v
}

// Add adds another vector times a factor.
func (v Vector) Add(w Vector, factor float64) {
	for term, weight := range w {
		v[term] += weight * factor
	}
}

// Norm is the Euclidean length.
func (v Vector) Norm() float64 {
	sum := 0.0
	for _, w := range v {
		sum += w * w
	}
	return math.Sqrt(sum)
}

// Heaviest returns the n heaviest terms, heaviest first; terms with the same weight in alphabetical order.
func (v Vector) Heaviest(n int) []Term {
	if len(v) == 0 {
		return nil
	}
	terms := make([]Term, 0, len(v))
	for text, weight := range v {
		terms = append(terms, Term{text, weight})
	}
	slices.SortFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Text, b.Text))
	})
	return terms[:min(n, len(terms))]
}

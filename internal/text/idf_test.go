package text

import (
	"math"
	"testing"
)

func TestSublinear(t *testing.T) {
	for n, want := range map[float64]float64{
		0: 0, 0.25: 0.25, 1: 1, 2: 1.693147, 2.5: 1.916291, 3: 2.098612, 10: 3.302585, 63: 5.143135, 64: 5.158883, 1000: 7.907755,
	} {
		if got := Sublinear(n); math.Abs(got-want) > 1e-6 {
			t.Errorf("of %g: %g, want %g", n, got, want)
		}
	}
	for n := 0.0; n < 100; n += 0.25 {
		if Sublinear(n+0.25) <= Sublinear(n) {
			t.Fatalf("%g counts no more than %g", n+0.25, n)
		}
	}
}

// TestUnseen: a term that is newer than the weights counts as one that no page has; without weights, all terms weigh the same.
func TestUnseen(t *testing.T) {
	w := NewIDF(20, []float32{0, 20, 5})
	for id, want := range map[uint32]float64{1: 0.693147, 2: 1.609438, 3: 3.044522, 99: 3.044522} { // ln 2, ln 5, ln 21
		if got := w.Of(id); math.Abs(got-want) > 1e-6 {
			t.Errorf("term %d weighs %g, want %g", id, got, want)
		}
	}
	if w = nil; w.Of(7) != 1 {
		t.Errorf("without weights a term weighs %g", w.Of(7))
	}
}

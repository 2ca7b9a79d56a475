package queue

import (
	"math"
	"testing"
)

func TestPriorityKeepsOrder(t *testing.T) {
	for _, unbounded := range []bool{false, true} {
		before := uint16(0)
		for s := 0.0; s <= 1; s += 1.0 / 4096 {
			p := Priority(s, unbounded)
			if p < before || s > 0 && p == before {
				t.Fatalf("%v stands as high as a lower score (unbounded %v)", s, unbounded)
			}
			before = p
		}
	}
	for score, want := range map[float64]uint16{-1: 0, math.NaN(): 0, math.Inf(1): best, 2: best} {
		if got := Priority(score, false); got != want {
			t.Errorf("%v becomes %d", score, got)
		}
	}
	if Priority(3, true) <= Priority(2, true) {
		t.Error("scores above 1 lose their order")
	}
}

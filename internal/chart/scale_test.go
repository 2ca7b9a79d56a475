package chart

import (
	"slices"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		labels string
	}{
		{nil, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{[]float64{0, 1}, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{[]float64{0, 2360}, "0 500 1000 1500 2000"},
		{[]float64{0, 0.05}, "0.00 0.01 0.02 0.03 0.04 0.05"},
		{[]float64{-3, 7}, "-2 0 2 4 6"},
		{[]float64{5, 5}, "3 4 5 6 7"},
		{[]float64{1.2e6, 9e6}, "2e+06 4e+06 6e+06 8e+06"},
		{[]float64{0, 4e-6}, "0 1e-06 2e-06 3e-06 4e-06"},
		{[]float64{-1e308, 1e308}, "-5e+307 0 5e+307"},
	} {
		s := axis(c.values, 100, 200)
		ticks := s.ticks()
		var labels []string
		for _, tick := range ticks {
			labels = append(labels, tick.Text)
			if tick.At < 100 || tick.At > 200 {
				t.Errorf("%v: tick %s is drawn at %v, outside of the axis", c.values, tick.Text, tick.At)
			}
		}
		if got := strings.Join(labels, " "); got != c.labels {
			t.Errorf("%v: ticks %s, want %s", c.values, got, c.labels)
		}
		if !slices.IsSortedFunc(ticks, func(a, b tick) int { return int(a.At - b.At) }) {
			t.Errorf("%v: ticks %v", c.values, ticks)
		}
	}
}

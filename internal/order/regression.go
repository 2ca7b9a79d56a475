package order

import (
	"math"

	"github.com/muninn-archive/muninn/internal/text"
)

// feature is something that is said of a link, and how strongly.
type feature struct {
	id    uint16 // its weight
	value float64
}

func featureOf(name string) uint16 { return uint16(text.Hash(name) % weights) }

const (
	weights = 1 << 16 // of a regression
	maxPast = 3000    // outcomes that are kept to be learned from again
)

// regression is logistic, with a step of its own for each weight (AdaGrad), and goes through past outcomes again.
type regression struct {
	settings Settings
	weights  []weight
	past     []outcome
	random   random
}

// weight is that of a feature, and what a step of it needs: side by side, because most steps find none of it in the processor's cache.
type weight struct {
	value     float64
	expected  float64 // before anything is learned
	gradients float64 // the sum of their squares
}

// outcome is what came of a link. Its features are kept as they were when it was followed.
type outcome struct {
	features []feature
	value    float64
}

func newRegression(s Settings, expected map[string]float64) regression {
	r := regression{settings: s, weights: make([]weight, weights), random: random(s.Seed)}
	for name, w := range expected {
		id := featureOf(name)
		r.weights[id].value, r.weights[id].expected = w, w
	}
	return r
}

func (r *regression) predict(f []feature) float64 {
	z := 0.0
	for _, x := range f {
		z += r.weights[x.id].value * x.value
	}
	return sigmoid(z)
}

func (r *regression) learn(f []feature, value, rate float64) {
	r.step(f, value, rate)
	for range r.settings.Replay {
		if len(r.past) > 0 {
			o := &r.past[r.random.below(len(r.past))]
			r.step(o.features, o.value, rate)
		}
	}
	if len(r.past) < maxPast {
		r.past = append(r.past, outcome{f, value})
	} else {
		r.past[r.random.below(maxPast)] = outcome{f, value}
	}
}

func (r *regression) step(f []feature, value, rate float64) {
	d := r.predict(f) - value
	for _, x := range f {
		w := &r.weights[x.id]
		g := d*x.value + r.settings.Decay*(w.value-w.expected)
		w.gradients += g * g
		w.value -= rate * g / (math.Sqrt(w.gradients) + 1e-3)
	}
}

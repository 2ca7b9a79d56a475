package proposal

import (
	"math"
)

// term is a feature of a page: its number in the pool, and its weight.
type term struct {
	id     int32
	weight float32
}

// example is a page with what a person wants of it.
type example struct {
	terms  []term
	keep   bool
	weight float64 // how much it counts
}

// weights is a logistic regression: its first weight is the bias.
type weights []float64

// biasValue is the value of the feature that all pages have. The greater, the less the bias is drawn to 0.
const biasValue = 1

func (w weights) of(terms []term) float64 {
	z := w[0] * biasValue
	for _, t := range terms {
		z += w[t.id] * float64(t.weight)
	}
	return z
}

func (w weights) add(terms []term, factor float64) {
	w[0] += factor * biasValue
	for _, t := range terms {
		w[t.id] += factor * float64(t.weight)
	}
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// The limits of training.
const (
	maxPasses   = 60
	maxNewton   = 50   // steps for one example
	enoughOuter = 0.02 // of the largest gradient of a pass
	enoughInner = 1e-6
)

// train fits a regression with L2 regularisation by coordinate descent in the dual (Yu, Huang, Lin 2011, algorithm 5, as in LIBLINEAR).
// cost is how much an error costs beside the length of the weights. features is how many numbers terms have, 0 for the bias. The
// order of the examples is a fixed shuffle, so that the result is always the same.
func train(examples []example, features int, cost float64) weights {
	w := make(weights, features)
	alphas := make([][2]float64, len(examples))
	squares := make([]float64, len(examples))
	for i := range examples {
		e := &examples[i]
		c := cost * e.weight
		alphas[i][0] = math.Min(0.001*c, 1e-8)
		alphas[i][1] = c - alphas[i][0]
		squares[i] = biasValue * biasValue
		for _, t := range e.terms {
			squares[i] += float64(t.weight) * float64(t.weight)
		}
		w.add(e.terms, e.sign()*alphas[i][0])
	}
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	random := uint64(1)
	for range maxPasses {
		for i := range order {
			random = random*6364136223846793005 + 1442695040888963407
			j := i + int((random>>33)%uint64(len(order)-i))
			order[i], order[j] = order[j], order[i]
		}
		most := 0.0
		for _, i := range order {
			most = max(most, step(&examples[i], &alphas[i], squares[i], cost, w))
		}
		if most < enoughOuter {
			break
		}
	}
	return w
}

func (e *example) sign() float64 {
	if e.keep {
		return 1
	}
	return -1
}

// step minimises along the variable of one example, and returns the gradient that it began with.
func step(e *example, alpha *[2]float64, a, cost float64, w weights) (gradient float64) {
	c, b := cost*e.weight, e.sign()*w.of(e.terms)
	one, two, sign := 0, 1, 1.0
	if 0.5*a*(alpha[1]-alpha[0])+b < 0 {
		one, two, sign = 1, 0, -1
	}
	before := alpha[one]
	z := before
	if c-z < 0.5*c {
		z *= 0.1
	}
	slope := func(z float64) float64 { return a*(z-before) + sign*b + math.Log(z/(c-z)) }
	g := slope(z)
	gradient = math.Abs(g)
	moved := false
	for range maxNewton {
		if math.Abs(g) < enoughInner {
			break
		}
		if next := z - g/(a+c/(c-z)/z); next <= 0 {
			z *= 0.1
		} else {
			z = next
		}
		g, moved = slope(z), true
	}
	if moved {
		alpha[one], alpha[two] = z, c-z
		w.add(e.terms, sign*(z-before)*e.sign())
	}
	return gradient
}

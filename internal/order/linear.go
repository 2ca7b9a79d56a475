package order

import (
	"math"

	"github.com/muninn-archive/muninn/internal/text"
)

// linear is a logistic regression that holds examples and pages of the crawl apart by one view of them. Where naive Bayes adds up a little evidence of each term, it finds the
// few that decide, such as a link to the board of a forum. It is fitted in folds: each page is judged by a regression that has not seen it, and a new page by the mean of all.
type linear struct {
	terms map[uint32]linearTerm // those of at least two pages
	rare  float32               // inverse document frequency of all others
	bias  float64
}

type linearTerm struct {
	rarity float32 // inverse document frequency
	weight float32
}

// How a regression is fitted: by stochastic gradient descent with the step 1/(λ·(t+t₀)), as Bottou (2010) has it.
const (
	fitFolds   = 4
	fitEpochs  = 5
	fitLambda  = 0.003 // of the penalty on the squares of weights
	fitRate    = 4     // bound of a step
	fitBias    = 0.1   // part of a step that the bias makes
	leastToFit = 3     // examples; of fewer none can be held back
)

// fitPage is a page while a regression is fitted.
type fitPage struct {
	at      int // in the list of all
	example bool
	ids     []int32 // of its terms
	values  []float64
}

// score is above 0 if a page is rather like the examples; 0 if it has nothing of the view, or nothing was fitted.
func (l *linear) score(v text.HashedVector) float64 {
	if len(l.terms) == 0 {
		return 0
	}
	sum, squares := 0.0, 0.0
	for _, x := range v {
		term, known := l.terms[x.ID]
		if !known {
			term.rarity = l.rare
		}
		w := float64(x.Weight) * float64(term.rarity)
		squares += w * w
		sum += w * float64(term.weight)
	}
	if squares == 0 {
		return 0
	}
	return sum/math.Sqrt(squares) + l.bias
}

// fit fits the regression to a view of examples and other pages, in place of what it was. It returns the scores of the examples and of the others by regressions that have not seen
// them: 0 if a page has nothing of the view, as an example that was given by its text has no URL.
func (l *linear) fit(examples, others []Views, view int) (mine, theirs []float64) {
	mine, theirs = make([]float64, len(examples)), make([]float64, len(others))
	*l = linear{}
	all := append(viewOf(examples, view), viewOf(others, view)...)
	pages, ids := l.prepare(all, len(examples))
	given := 0
	for i := range pages {
		if pages[i].example {
			given++
		}
	}
	if given < leastToFit || given == len(pages) {
		l.terms = nil
		return mine, theirs
	}
	f := newFolds(pages, given, len(ids))
	total, bias := make([]float64, len(ids)), 0.0
	for fold := range f.folds {
		f.train(fold)
		for i := range pages {
			if i%f.folds == fold {
				if p := &pages[i]; p.example {
					mine[p.at] = f.sum(p)
				} else {
					theirs[p.at-len(examples)] = f.sum(p)
				}
			}
		}
		for k, w := range f.weights {
			total[k] += w * f.scale / float64(f.folds)
		}
		bias += f.bias / float64(f.folds)
	}
	l.bias = bias
	for k, id := range ids {
		l.terms[id] = linearTerm{l.terms[id].rarity, float32(total[k])}
	}
	return mine, theirs
}

func viewOf(list []Views, view int) []text.HashedVector {
	out := make([]text.HashedVector, len(list))
	for i := range list {
		out[i] = list[i][view]
	}
	return out
}

// prepare weighs the terms of pages by their rarity. The first ones are examples. It returns the pages that have terms, and the terms by their numbers.
func (l *linear) prepare(all []text.HashedVector, examples int) (pages []fitPage, ids []uint32) {
	type counted struct {
		pages int32
		at    int32 // number of the term, from 1 on
	}
	terms, n, size := map[uint32]counted{}, 0, 0
	for _, v := range all {
		for _, x := range v {
			c := terms[x.ID]
			c.pages++
			terms[x.ID] = c
		}
		if size += len(v); len(v) > 0 {
			n++
		}
	}
	l.terms, l.rare = map[uint32]linearTerm{}, float32(math.Log(float64(n+1)))
	roomIDs, roomValues := make([]int32, 0, size), make([]float64, 0, size)
	for i, v := range all {
		begin, squares := len(roomIDs), 0.0
		for _, x := range v {
			c := terms[x.ID]
			rarity := float32(math.Log(float64(n+1) / float64(c.pages)))
			w := float64(x.Weight) * float64(rarity)
			if squares += w * w; c.pages < 2 {
				continue
			}
			if c.at == 0 {
				ids = append(ids, x.ID)
				c.at = int32(len(ids))
				terms[x.ID], l.terms[x.ID] = c, linearTerm{rarity: rarity}
			}
			roomIDs, roomValues = append(roomIDs, c.at-1), append(roomValues, w)
		}
		if squares == 0 {
			continue
		}
		p := fitPage{at: i, example: i < examples, ids: roomIDs[begin:], values: roomValues[begin:]}
		for k := range p.values {
			p.values[k] /= math.Sqrt(squares)
		}
		pages = append(pages, p)
	}
	return pages, ids
}

// folds fits a regression without the pages of a fold.
type folds struct {
	pages   []fitPage
	folds   int
	turn    []int // in which pages are learned from
	random  random
	up, off float64 // how much an example and another page count: both kinds count half

	weights []float64 // divided by scale
	scale   float64
	bias    float64
}

func newFolds(pages []fitPage, examples, terms int) *folds {
	n := float64(len(pages))
	f := &folds{
		pages: pages, folds: min(fitFolds, examples), turn: make([]int, len(pages)), random: 1, weights: make([]float64, terms),
		up: n / (2 * float64(examples)), off: n / (2 * (n - float64(examples))),
	}
	for i := range f.turn {
		f.turn[i] = i
	}
	return f
}

func (f *folds) sum(p *fitPage) float64 {
	sum := 0.0
	for j, k := range p.ids {
		sum += f.weights[k] * p.values[j]
	}
	return sum*f.scale + f.bias
}

// train fits the regression to all pages but those of a fold.
func (f *folds) train(fold int) {
	clear(f.weights)
	f.scale, f.bias = 1, 0
	steps := 1 / fitLambda / 4
	for range fitEpochs {
		for i := range f.turn {
			j := i + f.random.below(len(f.turn)-i)
			f.turn[i], f.turn[j] = f.turn[j], f.turn[i]
		}
		for _, i := range f.turn {
			if i%f.folds != fold {
				f.step(&f.pages[i], min(1/(fitLambda*steps), fitRate))
				steps++
			}
		}
	}
}

func (f *folds) step(p *fitPage, rate float64) {
	counts, want := f.off, 0.0
	if p.example {
		counts, want = f.up, 1
	}
	step := min(rate*counts, fitRate) * (sigmoid(f.sum(p)) - want)
	f.scale *= 1 - rate*fitLambda // the penalty, of all weights at once
	for j, k := range p.ids {
		f.weights[k] -= step / f.scale * p.values[j]
	}
	f.bias -= fitBias * step
}

package order

import (
	"maps"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/text"
)

// Relevance distinguishes pages of a topic from others, by what example pages have in common that the pages of the crawl have
// not: words of text and title, the form of the URL, and what they link to; and by how similar their texts are to those of the examples. Nothing has to be labelled: the crawl's own
// pages, most of which are of other topics, stand for the others.
type Relevance struct {
	settings Settings
	parts    [parts]contrast // by the views of a page
	length   float64         // of the sum of the examples' texts
	examples []Views
	others   []Views    // some of the pages that were seen
	ratings  []rating   // of others
	second   secondView // beside the document score; nothing is fitted where there are examples
	seen     int
	fits     [len(fitted)]linear
	weights  [estimators]float64
	bias     float64
	says     [estimators]float64 // shares in what holds the mean example and the mean page apart
	random   random
}

// The views of a page, and what estimates its relevance: naive Bayes of the first three, the cosine of its text with those of the examples, and a regression of two.
const (
	parts      = 3 // views with naive Bayes
	targets    = parts
	views      = targets + 1
	cosine     = parts
	firstFit   = cosine + 1
	estimators = firstFit + len(fitted)
)

// fitted are the views with a regression: text and link targets.
var fitted = [...]int{0, targets}

var estimatorNames = [estimators]string{
	"words of the text", "words of the title", "form of the URL", "cosine with the examples", "regression of the text", "regression of the targets of links",
}

// maxOthers bounds the pages that are kept to weigh the parts by.
const maxOthers = 300

// NewRelevance makes a judge of examples.
func NewRelevance(examples []Views, s Settings) *Relevance {
	r := newRelevance(s)
	r.teach(examples)
	return r
}

func newRelevance(s Settings) *Relevance {
	r := &Relevance{settings: s, weights: [estimators]float64{1, 0.5, 0.5}, random: random(s.Seed)}
	for i := range r.parts {
		r.parts[i] = newContrast(s.Smoothing)
	}
	return r
}

// teach puts examples in place of those before.
func (r *Relevance) teach(examples []Views) {
	r.examples, r.fits, r.second = examples, [len(fitted)]linear{}, secondView{}
	r.count()
	r.weigh()
}

// count counts the terms of the examples.
func (r *Relevance) count() {
	for i := range r.parts {
		r.parts[i].mine, r.parts[i].mineSum = map[uint32]float32{}, 0
		for _, e := range r.examples {
			r.parts[i].add(e[i], true)
		}
	}
	r.length = 0
	for _, id := range slices.Sorted(maps.Keys(r.parts[0].mine)) { // in order, so that the sum is the same each time
		w := float64(r.parts[0].mine[id])
		r.length += w * w
	}
	r.length = math.Sqrt(r.length)
}

// similarity is the cosine of a text with the sum of the examples'.
func (r *Relevance) similarity(t text.HashedVector) float64 {
	sum := 0.0
	for _, x := range t {
		sum += float64(x.Weight) * float64(r.parts[0].mine[x.ID])
	}
	if sum == 0 {
		return 0
	}
	return min(sum/(r.length*t.Norm()), 1)
}

// cosine is how similar a text is to the sum of the examples'; to the sum of the others of an example.
func (r *Relevance) cosine(t text.HashedVector, example bool) float64 {
	if !example || len(r.examples) < 3 {
		return r.similarity(t)
	}
	dot, n := 0.0, t.Norm()
	for _, x := range t {
		dot += float64(x.Weight) * float64(r.parts[0].mine[x.ID])
	}
	rest := r.length*r.length - 2*dot + n*n
	if rest <= 0 || n == 0 {
		return 0
	}
	return (dot - n*n) / (math.Sqrt(rest) * n)
}

// Add takes in a page of the crawl, and how it was rated.
func (r *Relevance) Add(views Views, rated rating) {
	for i, v := range views[:parts] {
		r.parts[i].add(v, false)
	}
	r.seen++
	switch {
	case len(r.others) < maxOthers:
		r.others, r.ratings = append(r.others, views), append(r.ratings, rated)
	default: // each page that was seen has the same chance to be kept
		if at := r.random.below(r.seen); at < maxOthers {
			r.others[at], r.ratings[at] = views, rated
		}
	}
	if weighedAt(r.seen) {
		r.weigh()
	}
}

// weighedAt reports whether the estimators are weighed after so many pages: often while each page changes much. More often brings nothing.
func weighedAt(seen int) bool {
	switch seen {
	case 10, 25, 50, 100, 200, 300, 400, 700:
		return true
	}
	return seen%weighEvery == 0
}

// weighEvery is the number of pages after which the estimators are weighed at the latest: it takes some 20 ms.
const weighEvery = 1000

// Of is how likely a page is of the topic, in (0,1).
func (r *Relevance) Of(views Views) float64 { return sigmoid(r.sum(r.inputs(views))) }

// URL is what the form of a URL says for the topic: above 0 if examples have such more often than others.
func (r *Relevance) URL(features text.HashedVector) float64 { return r.parts[2].score(features, nil) }

func (r *Relevance) sum(x [estimators]float64) float64 {
	sum := r.bias
	for i, w := range r.weights {
		sum += w * x[i]
	}
	return sum
}

// inputs are the scores of the estimators for a page of the crawl.
func (r *Relevance) inputs(views Views) [estimators]float64 {
	x := r.unfitted(views, false)
	for i, view := range fitted {
		x[firstFit+i] = r.fits[i].score(views[view])
	}
	return x
}

// unfitted are the scores of the estimators but the regressions; an example is judged by the other examples.
func (r *Relevance) unfitted(views Views, example bool) (x [estimators]float64) {
	for i, v := range views[:parts] {
		var without text.HashedVector
		if example && len(r.examples) > 2 {
			without = v
		}
		x[i] = r.parts[i].score(v, without)
	}
	x[cosine] = r.cosine(views[0], example)
	return x
}

// weigh fits the weights of the estimators, by linear discriminant with the estimators taken for independent: one counts by how far it holds examples and others
// apart, measured by how far it scatters them. Each example is held back from what judges it. Of few examples the scatter is not known well: it is drawn to
// that of the others. Naive Bayes and regressions have learned little of them, and give way to the cosine.
func (r *Relevance) weigh() {
	if len(r.examples) == 0 && r.settings.Enough > 0 {
		r.second.learn(r.others, r.ratings)
	}
	if len(r.examples) == 0 || len(r.others) == 0 {
		return
	}
	mine, theirs := r.heldBack()
	known := float64(len(mine)) / (float64(len(mine)) + r.settings.Few)
	var w, says [estimators]float64
	apart, middle := 0.0, 0.0
	for i := range w {
		m, vm := moments(mine, i)
		o, vo := moments(theirs, i)
		vm = known*vm + (1-known)*vo
		w[i] = max((m-o)/(vm/2+vo/2+1e-3), 0)
		if i != cosine {
			w[i] *= known
		}
		says[i] = w[i] * (m - o)
		apart += says[i]
		middle += w[i] * (r.settings.Middle*m + (1-r.settings.Middle)*o)
	}
	if apart <= 0 {
		return
	}
	scale := r.settings.Sharpness / apart
	for i := range w {
		r.weights[i], r.says[i] = w[i]*scale, says[i]/apart
	}
	r.bias = -middle * scale
}

// heldBack fits the regressions, and returns the scores of examples and others by what has not seen them.
func (r *Relevance) heldBack() (mine, theirs [][estimators]float64) {
	for _, v := range r.examples {
		mine = append(mine, r.unfitted(v, true))
	}
	for _, v := range r.others {
		theirs = append(theirs, r.unfitted(v, false))
	}
	for i, view := range fitted {
		m, t := r.fits[i].fit(r.examples, r.others, view)
		for k, z := range m {
			mine[k][firstFit+i] = z
		}
		for k, z := range t {
			theirs[k][firstFit+i] = z
		}
	}
	return mine, theirs
}

func moments(list [][estimators]float64, i int) (mean, variance float64) {
	n := float64(len(list))
	for _, x := range list {
		mean += x[i] / n
	}
	for _, x := range list {
		variance += (x[i] - mean) * (x[i] - mean) / n
	}
	return mean, variance
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logit(p float64) float64 {
	p = min(max(p, 0.01), 0.99)
	return math.Log(p / (1 - p))
}

// random is a small generator, the same for the same seed.
type random uint64

func (r *random) below(n int) int {
	*r = *r*6364136223846793005 + 1442695040888963407
	return int(uint64(*r>>33) % uint64(max(n, 1)))
}

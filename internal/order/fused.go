package order

import (
	"fmt"
	"math"
	"sync"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Settings of an order that learns.
type Settings struct {
	Seed      uint64
	Smoothing float64 // weight of the background in the frequencies of words, against 1 for the examples
	Sharpness float64 // how far apart the mean example and the mean page are judged, in logits
	Middle    float64 // where between the two a page is as likely of the topic as not
	Rate      float64 // of learning
	Decay     float64 // of what was learned, towards what is expected
	Replay    int     // past outcomes that are learned from again with each new one
	Strength  float64 // links that a group's mean is worth before any was followed
	Hub       float64 // weight of what a page's own links promise
	Few       float64 // examples that make what naive Bayes has learned of them half as good as it can be
	Doubt     float64 // examples by which the order trusts what it takes pages for by half
	LeastHub  float64 // part of Hub that is left without examples
	LeastRate float64 // part of Rate that is left without examples
	Many      float64 // links to relevant pages that make a page as good as one can be
	// Enough is the document score from which a page counts as one of the topic, before enough scores of the crawl are known. Given, the document score has half a
	// say in what a page is worth, and all of it before there are examples; 0: it has none.
	Enough float64
	// Expected are the weights before anything was learned, by feature: for relevance, and for promise.
	Expected, Promise map[string]float64
}

// DefaultSettings were chosen by measurement on WebKB, one setting for four topics: halving or doubling one of them moves
// the mean area by a few hundredths at most.
func DefaultSettings() Settings {
	return Settings{
		Seed: 1, Smoothing: 30, Sharpness: 5, Middle: 0.5, Rate: 0.1, Decay: 1e-3, Replay: 4, Strength: 3, Hub: 1, Few: 4, Doubt: 5, LeastHub: 0.2, LeastRate: 0.5, Many: 10,
		Expected: map[string]float64{
			"bias": -1.5, "page": 0.8, "place": 0.4, "directory": 0.3, "shape": 0.4, "url": 0.4, "anchor": 2, "paragraph": 0.5, "parent": 1,
			"helper": 1, "patterns": 2, "entities": 1, "language": 1, "history": 1, "spam": 2, "freshness": 0.2, "social": 1,
		},
		Promise: map[string]float64{"bias": -2, "page": 0.2, "anchor": 1, "spam": 2},
	}
}

// Fused is our order: it learns while it crawls which links lead to pages of the topic. Each fetched page reports how
// well it was predicted, and what is learned of it moves all links that wait. What it looks at: the words and the
// writing of anchors, the form of URLs, the page that a link stands on, its place in the page, its depth, what others
// say of it, and how the other links of that page, place, directory and shape of URL fared.
type Fused struct {
	settings Settings

	mu        sync.RWMutex
	relevance *Relevance
	rel, hub  regression
	groups    groups
	mean      groupOutcomes
	scale     scale // of document scores
}

// NewFused makes an order of example pages; there may be none.
func NewFused(examples []*Page, s Settings) *Fused {
	views := make([]Views, len(examples))
	o := &Fused{settings: s, rel: newRegression(s, s.Expected), hub: newRegression(s, s.Promise), groups: newGroups(), scale: scale{random: random(s.Seed)}}
	for i, e := range examples {
		views[i] = ViewsOf(e)
	}
	o.relevance = NewRelevance(views, s)
	return o
}

// Teach puts other examples in place of those before.
func (o *Fused) Teach(examples []Views) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.relevance.teach(examples)
}

// Examples is the number of pages that it was shown as examples.
func (o *Fused) Examples() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return len(o.relevance.examples)
}

// Pages is the number of pages that it has learned from.
func (o *Fused) Pages() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.relevance.seen
}

// Judge works out what is to be known of the links, and what the page is worth.
func (o *Fused) Judge(p *Page, _ []byte) Judgement {
	views := ViewsOf(p)
	o.mu.RLock()
	defer o.mu.RUnlock()
	j := Judgement{Links: make([]Judged, len(p.Links)), Worth: o.worth(p, views), PageFeatures: views.Encode()}
	r := linkReader{of: o, page: p, worth: j.Worth, pageGroup: fnv.Add(ofPage, p.URL), place: fnv.AddByte(fnv.Add(ofPlace, urls.AuthorityOf(p.URL)), ' ')}
	for i := range p.Links {
		s := r.signals(&p.Links[i])
		j.Links[i] = Judged{o.priority(s), s.encode()}
	}
	return j
}

// worth is the probability that a page is of the topic.
func (o *Fused) worth(p *Page, views Views) float64 {
	said := o.settings.Enough > 0 && p.Score >= 0
	switch {
	case !said:
		return o.relevance.Of(views)
	case len(o.relevance.examples) == 0:
		return o.relevance.second.worth(o.scale.worth(p.Score, o.settings.Enough), views[targets], HostOf(p.URL))
	}
	return (o.relevance.Of(views) + o.scale.worth(p.Score, o.settings.Enough)) / 2
}

// features adds to what is fixed of a link how its groups fared.
func (o *Fused) features(s signals) []feature {
	prior := (o.mean.Sum + 1) / (o.mean.N + 5)
	usual := logit(prior)
	f := s.fixed
	for i, id := range s.groups {
		g := o.groups.Get(id)
		p := (g.Sum + o.settings.Strength*prior) / (g.N + o.settings.Strength)
		f = append(f, feature{groupIDs[i], logit(p) - usual})
	}
	return f
}

func (o *Fused) priority(s signals) float64 {
	f := o.features(s)
	hub := o.settings.Hub * max(o.trust(), o.settings.LeastHub)
	return (o.rel.predict(f) + hub*o.hub.predict(f)) / (1 + hub)
}

// trust is how far the order relies on what it takes pages for, in [0,1): an error of that is learned, and promised again. Few examples, or keywords alone, leave much open.
func (o *Fused) trust() float64 {
	n := float64(len(o.relevance.examples))
	return n / (n + o.settings.Doubt)
}

// Priority is the present priority of a link; 0 if nothing was kept with it that can be read.
func (o *Fused) Priority(linkFeatures []byte) float64 {
	var room [maxFixed + len(groupIDs)]feature
	s, ok := decodeSignals(linkFeatures, room[:0])
	if !ok {
		return 0
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.priority(s)
}

// Expect is how likely a link leads to a page of the topic, by what is known now.
func (o *Fused) Expect(linkFeatures []byte) float64 {
	var room [maxFixed + len(groupIDs)]feature
	s, ok := decodeSignals(linkFeatures, room[:0])
	if !ok {
		return 0
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.rel.predict(o.features(s))
}

// Learn learns from a visit. What cannot be read is left out.
func (o *Fused) Learn(v Visit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if math.IsNaN(v.Worth) || math.IsNaN(v.Promise) {
		return
	}
	rate := o.settings.Rate * max(o.trust(), o.settings.LeastRate)
	promise := min(math.Log1p(max(v.Promise, 0))/math.Log1p(o.settings.Many), 1)
	for _, linkFeatures := range v.LinkFeatures {
		s, ok := decodeSignals(linkFeatures, make([]feature, 0, len(linkFeatures)/4))
		if !ok {
			continue
		}
		f := o.features(s)
		o.rel.learn(f, v.Worth, rate)
		o.hub.learn(f, promise, rate)
		for _, id := range s.groups {
			o.groups.add(id, v.Worth)
		}
	}
	o.mean.N++
	o.mean.Sum += v.Worth
	o.scale.add(v.Score)
	if views, err := decodeViews(v.PageFeatures); err == nil && len(v.PageFeatures) > 0 {
		o.relevance.Add(views, rating{float32(max(v.Score, 0)), float32(v.Worth), v.Host})
	}
}

// Weight is a feature of a link with what it adds, in logits, to how likely it is of the topic, and to how many links to pages
// of the topic it promises.
type Weight struct {
	Name    string
	Value   float64
	Promise float64
}

// Explain reports why a link has its priority, by what was kept with it: features that have a name, with all others in one.
func (o *Fused) Explain(linkFeatures []byte) []Weight {
	s, ok := decodeSignals(linkFeatures, nil)
	if !ok {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	names := map[uint16]string{depthID: "depth"}
	for name := range o.settings.Expected {
		names[featureOf(name)] = name
	}
	for i, name := range groupNames {
		names[groupIDs[i]] = fmt.Sprintf("%s (%.0f links followed)", name, o.groups.Get(s.groups[i]).N)
	}
	var list []Weight
	words := Weight{Name: "words of anchor and URL, as learned"}
	for _, f := range o.features(s) {
		value, promise := o.rel.weights[f.id].value*f.value, o.hub.weights[f.id].value*f.value
		if name := names[f.id]; name != "" {
			list = append(list, Weight{name, value, promise})
		} else {
			words.Value += value
			words.Promise += promise
		}
	}
	return append(list, words)
}

// Estimator is what says how relevant a page is, with its part in that.
type Estimator struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // in [0,1]; those of all add up to 1 once they were weighed, after ten pages, and to less before
}

// ByScore is the estimator that is the document score.
const ByScore = "document score"

// Estimators reports by what the order takes pages for relevant now. What predicts held-back examples better has the greater share. They are nil if nothing does:
// there are no examples, and the document score has no say.
func (o *Fused) Estimators() (list []Estimator) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	rest := 1.0
	if o.settings.Enough > 0 {
		if len(o.relevance.examples) > 0 {
			rest = 0.5
		} else {
			rest = 0
		}
		list = append(list, Estimator{ByScore, 1 - rest})
	}
	if len(o.relevance.examples) == 0 {
		if w := o.relevance.second.weight; w > 0 && len(list) > 0 {
			list[0].Share = 1 / (1 + w)
			list = append(list, Estimator{estimatorNames[secondEstimator], w / (1 + w)})
		}
		return list
	}
	for i, share := range o.relevance.says {
		list = append(list, Estimator{estimatorNames[i], rest * share})
	}
	return list
}

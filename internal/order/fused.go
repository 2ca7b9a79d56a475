package order

import (
	"math"
	"strings"
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
	Many      float64 // links to relevant pages that make a page as good as one can be
	// Expected are the weights before anything was learned, by feature: for relevance, and for promise.
	Expected, Promise map[string]float64
}

// DefaultSettings were chosen by measurement on WebKB, one setting for four topics: halving or doubling one of them moves
// the mean area by a few hundredths at most.
func DefaultSettings() Settings {
	return Settings{
		Seed: 1, Smoothing: 30, Sharpness: 5, Middle: 0.5, Rate: 0.1, Decay: 1e-3, Replay: 4, Strength: 3, Hub: 1, Many: 10,
		Expected: map[string]float64{"bias": -1.5, "page": 0.8, "place": 0.4, "directory": 0.3, "shape": 0.4, "url": 0.4, "anchor": 2, "around": 0.5, "parent": 1},
		Promise:  map[string]float64{"bias": -2, "page": 0.2, "anchor": 1},
	}
}

// Fused is our order: it learns while it crawls which links lead to pages of the topic. Each fetched page tells how
// well it was predicted, and what is learned of it moves all links that wait. What it looks at: the words and the
// writing of anchors, the form of URLs, the page that a link stands on, its place in the page, and how the other links
// of that page, place, directory and shape of URL fared.
type Fused struct {
	settings  Settings
	relevance *Relevance
	topic     Terms
	rel, hub  regression
	groups    map[string]*tried
	pages     map[string]float64 // relevance of fetched ones, by URL
	links     map[*Link]*known
	mean      tried
}

// tried sums up how the links of a group fared.
type tried struct{ n, sum float64 }

// known is what is worked out once of a link, when it is found: what its URL says for the topic by what was known then.
type known struct {
	fixed  []feature
	groups [4]*tried
}

type feature struct {
	id    uint32
	value float64
}

// names of the groups of a link, in the order of known.groups.
var groupNames = [4]string{"page", "place", "directory", "shape"}

// NewFused makes an order of example pages.
func NewFused(examples []*Page, s Settings) *Fused {
	o := &Fused{settings: s, relevance: NewRelevance(examples, s), rel: newRegression(s), hub: newRegression(s),
		groups: map[string]*tried{}, pages: map[string]float64{}, links: map[*Link]*known{}}
	for name, w := range s.Expected {
		o.rel.expect(name, w)
	}
	for name, w := range s.Promise {
		o.hub.expect(name, w)
	}
	for _, e := range examples {
		o.topic = o.topic.Add(damped(e.Text), 1)
	}
	o.topic = o.topic.unit()
	return o
}

// Judge is how likely a page is of the topic, as far as the order knows.
func (o *Fused) Judge(p *Page) float64 { return o.relevance.Of(p) }

func (o *Fused) group(key string) *tried {
	g := o.groups[key]
	if g == nil {
		g = &tried{}
		o.groups[key] = g
	}
	return g
}

// know works out what does not change of a link.
func (o *Fused) know(from string, l *Link) *known {
	if k := o.links[l]; k != nil {
		return k
	}
	k := &known{}
	add := func(name string, value float64) { k.fixed = append(k.fixed, feature{Hash(name) % weights, value}) }
	add("bias", 1)
	for _, t := range damped(l.Anchor) {
		k.fixed = append(k.fixed, feature{(t.ID*31 + 1) % weights, float64(t.W)})
	}
	add("writing "+nameShape(l.Name), 0.5)
	form := urlFeatures(l.URL)
	for _, id := range form {
		k.fixed = append(k.fixed, feature{id % weights, 0.3})
	}
	add("url", min(max(o.relevance.URL(flat(form)), -3), 3))
	add("anchor", Cosine(o.topic, l.Anchor))
	add("around", Cosine(o.topic, l.Around))
	if r, fetched := o.pages[from]; fetched {
		add("parent", r)
	}
	for i, key := range []string{"p " + from, "t " + from + " " + l.TagPath, "d " + directory(l.URL), "s " + hostOf(l.URL) + " " + pathShape(l.URL)} {
		k.groups[i] = o.group(key)
	}
	o.links[l] = k
	return k
}

// features adds to what is known of a link how its groups fared.
func (o *Fused) features(k *known, into []feature) []feature {
	into = append(into, k.fixed...)
	prior := (o.mean.sum + 1) / (o.mean.n + 5)
	for i, g := range k.groups {
		p := (g.sum + o.settings.Strength*prior) / (g.n + o.settings.Strength)
		into = append(into, feature{groupIDs[i], logit(p) - logit(prior)})
	}
	return into
}

var groupIDs = func() (ids [4]uint32) {
	for i, name := range groupNames {
		ids[i] = Hash(name) % weights
	}
	return ids
}()

// Outcome learns from what a link led to.
func (o *Fused) Outcome(from string, l *Link, p *Page) {
	k, r := o.know(from, l), o.Judge(p)
	f := o.features(k, nil)
	o.rel.learn(f, r)
	for _, g := range k.groups {
		g.n++
		g.sum += r
	}
	promise := 0.0
	for i := range p.Links {
		if _, fetched := o.pages[p.Links[i].URL]; !fetched {
			promise += o.rel.predict(o.features(o.know(p.URL, &p.Links[i]), nil))
		}
	}
	delete(o.links, l)
	o.hub.learn(f, min(math.Log1p(promise)/math.Log1p(o.settings.Many), 1))
}

// Fetched takes in a page.
func (o *Fused) Fetched(p *Page) []float64 {
	r := o.Judge(p)
	o.pages[p.URL] = r
	o.mean.n++
	o.mean.sum += r
	o.relevance.Add(p)
	out := make([]float64, len(p.Links))
	for i := range p.Links {
		delete(o.links, &p.Links[i])
		out[i] = o.Priority(p.URL, &p.Links[i])
	}
	return out
}

// Priority is the present priority of a waiting link.
func (o *Fused) Priority(from string, l *Link) float64 {
	k := o.know(from, l)
	var room [96]feature
	f := o.features(k, room[:0])
	return o.rel.predict(f) + o.settings.Hub*o.hub.predict(f)
}

// regression is logistic, with a step of its own for each weight (AdaGrad), and goes through past outcomes again.
type regression struct {
	settings         Settings
	weight, expected []float64
	gradients        []float64
	past             []outcome
	random           random
}

type outcome struct {
	features []feature
	value    float64
}

const (
	weights = 1 << 16 // of a regression
	maxPast = 3000    // outcomes that are kept to be learned from again
)

func newRegression(s Settings) regression {
	return regression{settings: s, weight: make([]float64, weights), expected: make([]float64, weights), gradients: make([]float64, weights), random: random(s.Seed)}
}

func (r *regression) expect(name string, w float64) {
	id := Hash(name) % weights
	r.weight[id], r.expected[id] = w, w
}

func (r *regression) predict(f []feature) float64 {
	z := 0.0
	for _, x := range f {
		z += r.weight[x.id] * x.value
	}
	return sigmoid(z)
}

func (r *regression) learn(f []feature, value float64) {
	r.step(f, value)
	for range r.settings.Replay {
		if len(r.past) > 0 {
			o := &r.past[r.random.below(len(r.past))]
			r.step(o.features, o.value)
		}
	}
	if len(r.past) < maxPast {
		r.past = append(r.past, outcome{f, value})
	} else {
		r.past[r.random.below(maxPast)] = outcome{f, value}
	}
}

func (r *regression) step(f []feature, value float64) {
	d := r.predict(f) - value
	for _, x := range f {
		g := d*x.value + r.settings.Decay*(r.weight[x.id]-r.expected[x.id])
		r.gradients[x.id] += g * g
		r.weight[x.id] -= r.settings.Rate * g / (math.Sqrt(r.gradients[x.id]) + 1e-3)
	}
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// directory is a URL up to its last part.
func directory(url string) string {
	at := strings.LastIndexByte(strings.TrimSuffix(url, "/"), '/')
	return url[:at+1]
}

// pathShape has the parts of a path alike that differ from page to page.
func pathShape(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case strings.HasPrefix(p, "~"):
			parts[i] = "~"
		case i == len(parts)-1 && p != "":
			_, ext, _ := strings.Cut(p, ".")
			parts[i] = "f." + ext
		default:
			parts[i] = shape(p)
		}
	}
	return strings.Join(parts, "/")
}

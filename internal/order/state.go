package order

import (
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/internal/codec"
)

// stateVersion is the version of the encoding. States of version 1, of orders without the cosine and the scale of scores, and of version 2, without regressions of pages, are read as
// well; one of another version is learned again.
const stateVersion = 3

// fusedState is what a Fused has learned, as it is kept.
type fusedState struct {
	Version   int                      `cbor:"1,keyasint"`
	Parts     [parts]contrastState     `cbor:"2,keyasint"`
	Examples  [][]byte                 `cbor:"3,keyasint,omitempty"`
	Others    [][]byte                 `cbor:"4,keyasint,omitempty"`
	Pages     int                      `cbor:"5,keyasint"`
	Weights   [estimators]float64      `cbor:"6,keyasint"`
	Bias      float64                  `cbor:"7,keyasint"`
	Random    uint64                   `cbor:"8,keyasint"`
	Relevance regressionState          `cbor:"9,keyasint"`
	Hub       regressionState          `cbor:"10,keyasint"`
	Young     map[uint32]groupOutcomes `cbor:"11,keyasint,omitempty"`
	Old       map[uint32]groupOutcomes `cbor:"12,keyasint,omitempty"`
	Mean      groupOutcomes            `cbor:"13,keyasint"`
	Says      [estimators]float64      `cbor:"14,keyasint"`
	Scale     scaleState               `cbor:"15,keyasint"`
	Fits      [len(fitted)]linearState `cbor:"16,keyasint"`
	Ratings   []rating                 `cbor:"17,keyasint,omitempty"` // of Others; of states before the second view there are none
	Second    secondState              `cbor:"18,keyasint"`
}

type secondState struct {
	Fit    linearState              `cbor:"1,keyasint"`
	Middle float64                  `cbor:"2,keyasint"`
	Spread float64                  `cbor:"3,keyasint"`
	Weight float64                  `cbor:"4,keyasint"`
	Shift  float64                  `cbor:"5,keyasint"`
	Hosts  map[uint32]groupOutcomes `cbor:"6,keyasint,omitempty"`
}

type linearState struct {
	IDs      []uint32  `cbor:"1,keyasint,omitempty"` // of the terms
	Rarities []float32 `cbor:"2,keyasint,omitempty"`
	Weights  []float32 `cbor:"3,keyasint,omitempty"`
	Rare     float32   `cbor:"4,keyasint"`
	Bias     float64   `cbor:"5,keyasint"`
}

type scaleState struct {
	Scores []float32 `cbor:"1,keyasint,omitempty"`
	Seen   int       `cbor:"2,keyasint"`
	Full   float64   `cbor:"3,keyasint"`
	Random uint64    `cbor:"4,keyasint"`
}

type contrastState struct {
	All map[uint32]float32 `cbor:"1,keyasint,omitempty"`
	Sum float64            `cbor:"2,keyasint"`
}

type regressionState struct {
	IDs       []uint16    `cbor:"1,keyasint,omitempty"` // of the weights that were learned
	Weights   []float64   `cbor:"2,keyasint,omitempty"`
	Gradients []float64   `cbor:"3,keyasint,omitempty"`
	Past      []pastState `cbor:"4,keyasint,omitempty"`
	Random    uint64      `cbor:"5,keyasint"`
}

type pastState struct {
	IDs    []uint16  `cbor:"1,keyasint"`
	Values []float64 `cbor:"2,keyasint"`
	Value  float64   `cbor:"3,keyasint"`
}

// Encode writes all that was learned. It is a few hundred kilobytes, and at most some megabytes.
func (o *Fused) Encode() ([]byte, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	r := o.relevance
	s := fusedState{
		Version: stateVersion, Pages: r.seen, Weights: r.weights, Bias: r.bias, Random: uint64(r.random),
		Relevance: o.rel.state(), Hub: o.hub.state(), Young: o.groups.Young, Old: o.groups.Old, Mean: o.mean,
		Says: r.says, Scale: scaleState{o.scale.scores, o.scale.seen, o.scale.full, uint64(o.scale.random)},
	}
	for i := range s.Parts {
		s.Parts[i] = contrastState{r.parts[i].all, r.parts[i].allSum}
	}
	for i := range r.fits {
		s.Fits[i] = r.fits[i].state()
	}
	s.Ratings, s.Second = r.ratings, secondState{r.second.fit.state(), r.second.middle, r.second.spread, r.second.weight, r.second.shift, r.second.hosts}
	for i := range r.examples {
		s.Examples = append(s.Examples, r.examples[i].Encode())
	}
	for i := range r.others {
		s.Others = append(s.Others, r.others[i].Encode())
	}
	return codec.Marshal(s)
}

// Restore puts in place what Encode wrote. On an error nothing is changed.
func (o *Fused) Restore(raw []byte) error {
	var s fusedState
	if err := codec.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read what was learned: %w", err)
	}
	if s.Version < 1 || s.Version > stateVersion || len(s.Scale.Scores) > maxScores {
		return fmt.Errorf("read what was learned: it is of version %d, this is %d", s.Version, stateVersion)
	}
	r := newRelevance(o.settings)
	for _, list := range []struct {
		from [][]byte
		into *[]Views
	}{{s.Examples, &r.examples}, {s.Others, &r.others}} {
		for _, raw := range list.from {
			v, err := decodeViews(raw)
			if err != nil {
				return err
			}
			*list.into = append(*list.into, v)
		}
	}
	r.count()
	for i := range r.parts {
		maps.Copy(r.parts[i].all, s.Parts[i].All)
		r.parts[i].allSum = s.Parts[i].Sum
	}
	if !r.restoreSecond(&s) {
		return errViews
	}
	r.seen, r.weights, r.bias, r.random = s.Pages, s.Weights, s.Bias, random(s.Random)
	r.says = s.Says
	for i := range r.fits {
		if !r.fits[i].restore(s.Fits[i]) {
			return errViews
		}
	}
	if s.Version < stateVersion {
		r.weigh() // which gives the cosine its weight, and fits the regressions
	}
	of := scale{s.Scale.Scores, s.Scale.Seen, s.Scale.Full, random(s.Scale.Random)}
	if s.Version == 1 {
		of = scale{random: random(o.settings.Seed)}
	}
	rel, hub := newRegression(o.settings, o.settings.Expected), newRegression(o.settings, o.settings.Promise)
	if !rel.restore(s.Relevance) || !hub.restore(s.Hub) {
		return errViews
	}
	g := newGroups()
	g.Restore(s.Young, s.Old)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.relevance, o.rel, o.hub, o.groups, o.mean, o.scale = r, rel, hub, g, s.Mean, of
	return nil
}

// restoreSecond returns false if the lists do not fit. The second view leaves out pages of a state without ratings.
func (r *Relevance) restoreSecond(s *fusedState) bool {
	r.ratings = s.Ratings
	if len(r.ratings) == 0 {
		r.ratings = slices.Repeat([]rating{{Score: -1}}, len(r.others))
	}
	r.second = secondView{middle: s.Second.Middle, spread: s.Second.Spread, weight: s.Second.Weight, shift: s.Second.Shift, hosts: maps.Clone(s.Second.Hosts)}
	return len(r.ratings) == len(r.others) && r.second.fit.restore(s.Second.Fit)
}

func (l *linear) state() linearState {
	s := linearState{Rare: l.rare, Bias: l.bias}
	for _, id := range slices.Sorted(maps.Keys(l.terms)) {
		term := l.terms[id]
		s.IDs, s.Rarities, s.Weights = append(s.IDs, id), append(s.Rarities, term.rarity), append(s.Weights, term.weight)
	}
	return s
}

// restore returns false if the lists do not fit.
func (l *linear) restore(s linearState) bool {
	if len(s.IDs) != len(s.Rarities) || len(s.IDs) != len(s.Weights) {
		return false
	}
	*l = linear{terms: make(map[uint32]linearTerm, len(s.IDs)), rare: s.Rare, bias: s.Bias}
	for i, id := range s.IDs {
		l.terms[id] = linearTerm{s.Rarities[i], s.Weights[i]}
	}
	return true
}

func (r *regression) state() regressionState {
	s := regressionState{Random: uint64(r.random)}
	for id, w := range r.weights {
		if w.gradients > 0 {
			s.IDs = append(s.IDs, uint16(id))
			s.Weights = append(s.Weights, w.value)
			s.Gradients = append(s.Gradients, w.gradients)
		}
	}
	for _, o := range r.past {
		p := pastState{Value: o.value}
		for _, f := range o.features {
			p.IDs = append(p.IDs, f.id)
			p.Values = append(p.Values, f.value)
		}
		s.Past = append(s.Past, p)
	}
	return s
}

// restore returns false if the lists do not fit.
func (r *regression) restore(s regressionState) bool {
	if len(s.IDs) != len(s.Weights) || len(s.IDs) != len(s.Gradients) || len(s.Past) > maxPast {
		return false
	}
	for i, id := range s.IDs {
		r.weights[id].value, r.weights[id].gradients = s.Weights[i], s.Gradients[i]
	}
	for _, p := range s.Past {
		if len(p.IDs) != len(p.Values) {
			return false
		}
		o := outcome{value: p.Value}
		for i, id := range p.IDs {
			o.features = append(o.features, feature{id, p.Values[i]})
		}
		r.past = append(r.past, o)
	}
	r.random = random(s.Random)
	return true
}

package proposal

import "math"

// Label is what a person has decided of a candidate.
type Label int8

// The labels.
const (
	Open Label = 0
	Kept Label = 1
	Left Label = -1 // dropped
)

// Model knows how likely each candidate is one that people would keep.
type Model struct {
	Keep []float64 // by the number of the candidate, in (0,1)
}

// Learn makes a model of labels, one for each candidate; nil if no candidate, or all of those that have a label, are kept: there is
// nothing to learn then.
func (p *Pool) Learn(labels []Label) *Model {
	w := p.fit(labels)
	if w == nil {
		return nil
	}
	m := &Model{Keep: make([]float64, p.Len())}
	for i, v := range p.vectors {
		m.Keep[i] = sigmoid(w.of(v))
	}
	return m
}

// fit trains on the labels; nil if they are all the same.
func (p *Pool) fit(labels []Label) weights {
	var examples []example
	kept := 0
	for i, l := range labels {
		if l == Open {
			continue
		}
		examples = append(examples, example{p.vectors[i], l == Kept, 1})
		if l == Kept {
			kept++
		}
	}
	if kept == 0 || kept == len(examples) {
		return nil
	}
	more := math.Pow(float64(len(examples)-kept)/float64(kept), p.settings.Balance)
	for i := range examples {
		if examples[i].keep {
			examples[i].weight = more
		}
	}
	return train(examples, p.features, p.settings.Cost)
}

package order

import "github.com/muninn-archive/muninn/internal/text"

// Thesaurus reports which terms mean the same as one, and which are one step broader or narrower.
type Thesaurus interface {
	Synonyms(term uint32) []uint32
	Near(term uint32) []uint32
}

// Semantic visits best first by what words mean (Batsakis et al. 2009, Eq. 4): terms count that mean the same as one of
// the topic, and by half those one step broader or narrower, if that is asked for.
type Semantic struct {
	weightOf map[uint32]float64 // what a term of a page counts for the topic
	sum      float64            // of the topic's weights
}

// nearWeight is what a broader or narrower term counts.
const nearWeight = 0.5

// NewSemantic makes the order for a topic.
func NewSemantic(topic text.HashedVector, t Thesaurus, broader bool) *Semantic {
	s := &Semantic{weightOf: map[uint32]float64{}}
	for _, k := range topic {
		s.sum += float64(k.Weight)
		same := t.Synonyms(k.ID)
		counts := map[uint32]float64{k.ID: 1}
		for _, other := range same {
			counts[other] = 1
		}
		if broader {
			for _, other := range t.Near(k.ID) {
				if counts[other] == 0 {
					counts[other] = nearWeight
				}
			}
		}
		for id, x := range counts {
			s.weightOf[id] += x * float64(k.Weight)
		}
	}
	return s
}

// similarity is Eq. 4: the mean of how alike the terms of topic and text are, over all pairs.
func (s *Semantic) similarity(of text.HashedVector) float64 {
	sum, weights := 0.0, 0.0
	for _, l := range of {
		weights += float64(l.Weight)
		sum += float64(l.Weight) * s.weightOf[l.ID]
	}
	if weights == 0 || s.sum == 0 {
		return 0
	}
	return sum / (weights * s.sum)
}

// Judge gives a link the mean of what its page and its anchor mean for the topic.
func (s *Semantic) Judge(p *Page, _ []byte) Judgement {
	page := s.similarity(p.Text)
	return judgeLinks(p, func(i int) float64 { return (page + s.similarity(p.Links[i].Anchor)) / 2 })
}

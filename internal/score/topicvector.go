package score

import (
	"math"

	"github.com/muninn-archive/muninn/internal/text"
)

// feedback is the weight of what was learned, and of each example, where the definition's own words have 1 (Rocchio 1971).
const feedback = 0.75

// topicVector holds the topic for pages of one language, with its norm.
type topicVector struct {
	terms text.Vector
	norm  float64 // of coded
	in    *text.Lexicon
	by    *text.IDF
	coded []codedTerm // the terms by their numbers in the lexicon in, weighted with by
}

type codedTerm struct {
	id     uint32
	weight float64
}

// topicFor is the topic for pages in a language, with the numbers of a lexicon and the weights of terms.
func (s *Scorer) topicFor(lang string, x *text.Lexicon, w *text.IDF) topicVector {
	t := s.vector(lang)
	if t.in == x && t.by == w {
		return t
	}
	t.in, t.by, t.coded = x, w, make([]codedTerm, 0, len(t.terms))
	sum := 0.0
	for term, weight := range t.terms {
		id := x.ID(term)
		weight *= w.Of(id)
		sum += weight * weight
		t.coded = append(t.coded, codedTerm{id, weight})
	}
	t.norm = math.Sqrt(sum)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byLanguage[lang] = t
	return t
}

// similarity is the cosine with a tally of the topic's lexicon (Eq. 1 of Batsakis et al. 2009). It is in [0,1] because no weight
// is negative. It is rounded because sums in map order differ in the last bits.
func (t topicVector) similarity(of *text.Tally, w *text.IDF) float64 {
	dot := 0.0
	for _, c := range t.coded {
		if n := of.Frequency(c.id); n > 0 {
			dot += c.weight * text.Sublinear(n) * w.Of(c.id)
		}
	}
	if dot == 0 || t.norm == 0 {
		return 0
	}
	return min(math.Round(dot/(t.norm*of.Norm(w))*1e9)/1e9, 1)
}

func (s *Scorer) vector(lang string) topicVector {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, known := s.byLanguage[lang]; known {
		return v
	}
	own := text.Vector{}
	for _, k := range s.topic.Keywords {
		s.dictionary.Add(own, k, lang, 1)
	}
	for _, e := range s.topic.Entities {
		s.dictionary.Add(own, e.Name, lang, 1)
		for _, alias := range e.Aliases {
			s.dictionary.Add(own, alias, lang, 0.5)
		}
	}
	for term, weight := range own {
		own[term] = min(weight, 2) // a word that many names share does not say many times as much
	}
	total := text.Vector{}
	total.Add(own, 1/max(own.Norm(), 1e-9))
	for _, e := range s.examples {
		v := s.dictionary.Vector(e.text, lang)
		total.Add(v, feedback/max(v.Norm(), 1e-9))
	}
	if s.model != nil {
		v := text.VectorOf(s.model.Terms)
		total.Add(v, feedback/max(v.Norm(), 1e-9))
	}
	t := topicVector{terms: total, norm: total.Norm()}
	s.byLanguage[lang] = t
	return t
}

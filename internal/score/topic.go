package score

import (
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Learned is what the reference crawl taught: with the definition it makes the Intelligent Crawl
// Definition (paper §3).
type Learned struct {
	Pages    int         `json:"pages"`    // looked at
	Relevant int         `json:"relevant"` // that the terms were taken from
	Terms    []text.Term `json:"terms"`
	Words    []string    `json:"words,omitempty"`    // the terms as the most pages write them; empty if that is not known
	Examples []string    `json:"examples,omitempty"` // URLs of the most relevant pages
	// Telling are the terms that the relevant pages have oftener than the others, the most telling first, as words; Names
	// the names in them; Languages those of the relevant pages and Hosts where they lie, with how many there are.
	Telling   []text.Term `json:"telling,omitempty"`
	Names     []text.Term `json:"names,omitempty"`
	Languages []text.Term `json:"languages,omitempty"`
	Hosts     []text.Term `json:"hosts,omitempty"`
	// Background are how many of the pages have a term, the commonest first.
	Background []text.Term `json:"background,omitempty"`
	// Paths are pages that orders are trained with.
	Paths []Path `json:"paths,omitempty"`
}

// Brief is what people want to see of it, and what is short enough for the history of a workflow.
func (l Learned) Brief() Learned {
	l.Background, l.Paths = nil, nil
	return l
}

// Sample is what a page of the reference crawl says: its heaviest terms and its score.
type Sample struct {
	URL      string      `json:"url"`
	Score    float64     `json:"score"`
	Example  bool        `json:"example,omitempty"` // the definition named it
	Terms    []text.Term `json:"terms"`
	Seen     []byte      `json:"seen,omitempty"` // what an order that learns has seen of it
	Language string      `json:"language,omitempty"`
	Names    []string    `json:"names,omitempty"` // that the page says
	Words    []string    `json:"words,omitempty"` // the terms as words
}

// Limits of learning.
const (
	sampleTerms     = 80   // kept of a page
	learnedTerms    = 40   // kept of all
	learnedShare    = 0.2  // of the pages: the best are learned from
	learnedLeast    = 3    // pages, at least
	backgroundTerms = 5000 // whose frequencies are kept
	feedback        = 0.75 // weight of what was learned against 1 for the definition's own words (Rocchio)
)

// topicVector holds the topic for pages of one language, with its norm.
type topicVector struct {
	terms text.Vector
	norm  float64 // with the weights of the background
	in    *text.Lexicon
	by    *text.IDF
	coded []codedTerm // the terms as the lexicon numbers them, weighed
}

type codedTerm struct {
	id     uint32
	weight float64
}

// topicIn is the topic for a language, as a lexicon numbers its terms and a background weighs them.
func (s *Scorer) topicIn(lang string, x *text.Lexicon, w *text.IDF) topicVector {
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

// near is the cosine with a tally of the topic's lexicon (Eq. 1 of Batsakis et al. 2009): in [0,1], for no weight is
// negative. It is rounded, for sums in map order differ in the last bits.
func (t topicVector) near(of *text.Tally, w *text.IDF) float64 {
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
		s.vocabulary.Add(own, k, lang, 1)
	}
	for _, e := range s.topic.Entities {
		s.vocabulary.Add(own, e.Name, lang, 1)
		for _, alias := range e.Aliases {
			s.vocabulary.Add(own, alias, lang, 0.5)
		}
	}
	for term, weight := range own {
		own[term] = min(weight, 2) // a word of many names is not many times as telling
	}
	total := text.Vector{}
	total.Add(own, 1/max(own.Norm(), 1e-9))
	for _, e := range s.examples {
		v := s.vocabulary.Vector(e.text, lang)
		total.Add(v, feedback/max(v.Norm(), 1e-9))
	}
	if s.learned != nil {
		v := text.VectorOf(s.learned.Terms)
		total.Add(v, feedback/max(v.Norm(), 1e-9))
	}
	t := topicVector{terms: total, norm: total.Norm()}
	s.byLanguage[lang] = t
	return t
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// canonical is the canonical form of a URL, "" if it is none.
func canonical(raw string) string {
	u, err := urls.Parse(raw)
	if err != nil {
		return ""
	}
	return u.String()
}

// IsExample tells whether the definition names the canonical URL, in whatever form, as an example page.
func IsExample(t crawl.Topic, url string) bool {
	return slices.ContainsFunc(t.ExampleURLs(), func(raw string) bool { return canonical(raw) == url })
}

package score

import (
	"cmp"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Term is a term of a learned topic vector.
type Term struct {
	Text   string  `json:"text"` // stemmed and folded
	Weight float64 `json:"weight"`
}

// Learned is what the reference crawl taught: with the definition it makes the Intelligent Crawl
// Definition (paper §3).
type Learned struct {
	Pages    int      `json:"pages"`    // looked at
	Relevant int      `json:"relevant"` // that the terms were taken from
	Terms    []Term   `json:"terms"`
	Words    []string `json:"words,omitempty"`    // the terms as the most pages write them; empty if that is not known
	Examples []string `json:"examples,omitempty"` // URLs of the most relevant pages
	// Telling are the terms that the relevant pages have oftener than the others, the most telling first, as words; Names
	// the names in them; Languages those of the relevant pages and Hosts where they lie, with how many there are.
	Telling   []Term `json:"telling,omitempty"`
	Names     []Term `json:"names,omitempty"`
	Languages []Term `json:"languages,omitempty"`
	Hosts     []Term `json:"hosts,omitempty"`
	// Background are how many of the pages have a term, the commonest first.
	Background []Term `json:"background,omitempty"`
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
	URL      string   `json:"url"`
	Score    float64  `json:"score"`
	Example  bool     `json:"example,omitempty"` // the definition named it
	Terms    []Term   `json:"terms"`
	Seen     []byte   `json:"seen,omitempty"` // what an order that learns has seen of it
	Language string   `json:"language,omitempty"`
	Names    []string `json:"names,omitempty"` // that the page says
	Words    []string `json:"words,omitempty"` // the terms as words
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
	terms Vector
	norm  float64 // with the weights of the background
	in    *lexicon
	by    *idf
	coded []codedTerm // the terms as the lexicon numbers them, weighed
}

type codedTerm struct {
	id     uint32
	weight float64
}

// topicIn is the topic for a language, as a lexicon numbers its terms and a background weighs them.
func (s *Scorer) topicIn(lang string, x *lexicon, w *idf) topicVector {
	t := s.vector(lang)
	if t.in == x && t.by == w {
		return t
	}
	t.in, t.by, t.coded = x, w, make([]codedTerm, 0, len(t.terms))
	sum := 0.0
	for term, weight := range t.terms {
		id := x.id(term)
		weight *= w.of(id)
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
func (t topicVector) near(of *tally, w *idf) float64 {
	dot := 0.0
	for _, c := range t.coded {
		if int(c.id) < len(of.n) && of.n[c.id] > 0 {
			dot += c.weight * sublinear(float64(of.n[c.id])) * w.of(c.id)
		}
	}
	if dot == 0 || t.norm == 0 {
		return 0
	}
	return min(math.Round(dot/(t.norm*of.norm(w))*1e9)/1e9, 1)
}

func (s *Scorer) vector(lang string) topicVector {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, known := s.byLanguage[lang]; known {
		return v
	}
	own := Vector{}
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
	total := Vector{}
	total.add(own, 1/max(own.norm(), 1e-9))
	for _, e := range s.examples {
		v := s.vocabulary.Vector(e.text, lang)
		total.add(v, feedback/max(v.norm(), 1e-9))
	}
	if s.learned != nil {
		v := Vector{}
		for _, t := range s.learned.Terms {
			v[t.Text] = t.Weight
		}
		total.add(v, feedback/max(v.norm(), 1e-9))
	}
	t := topicVector{terms: total, norm: total.norm()}
	s.byLanguage[lang] = t
	return t
}

func (v Vector) add(w Vector, factor float64) {
	for term, weight := range w {
		v[term] += weight * factor
	}
}

func (v Vector) norm() float64 {
	sum := 0.0
	for _, w := range v {
		sum += w * w
	}
	return math.Sqrt(sum)
}

// heaviest returns the n heaviest terms, heaviest first; ties go by the alphabet.
func (v Vector) heaviest(n int) []Term {
	if len(v) == 0 {
		return nil
	}
	terms := make([]Term, 0, len(v))
	for text, weight := range v {
		terms = append(terms, Term{text, weight})
	}
	slices.SortFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Text, b.Text))
	})
	return terms[:min(n, len(terms))]
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

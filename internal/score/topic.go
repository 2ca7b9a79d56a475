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
	Examples []string `json:"examples,omitempty"` // URLs of the most relevant pages
}

// Sample is what a page of the reference crawl says: its heaviest terms and its score.
type Sample struct {
	URL     string  `json:"url"`
	Score   float64 `json:"score"`
	Example bool    `json:"example,omitempty"` // the definition named it
	Terms   []Term  `json:"terms"`
}

// Limits of learning.
const (
	sampleTerms  = 80   // kept of a page
	learnedTerms = 40   // kept of all
	learnedShare = 0.2  // of the pages: the best are learned from
	learnedLeast = 3    // pages, at least
	feedback     = 0.75 // weight of what was learned against 1 for the definition's own words (Rocchio)
)

// topicVector holds the topic for pages of one language, with its norm.
type topicVector struct {
	terms Vector
	norm  float64
	in    *lexicon
	coded []codedTerm // the terms as the lexicon numbers them
}

type codedTerm struct {
	id     uint32
	weight float64
}

// topicIn is the topic for a language, as a lexicon numbers its terms.
func (s *Scorer) topicIn(lang string, x *lexicon) topicVector {
	t := s.vector(lang)
	if t.in == x {
		return t
	}
	t.in, t.coded = x, make([]codedTerm, 0, len(t.terms))
	for term, weight := range t.terms {
		t.coded = append(t.coded, codedTerm{x.id(term), weight})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byLanguage[lang] = t
	return t
}

// near is the cosine with a tally of the topic's lexicon.
func (t topicVector) near(of *tally) float64 {
	dot := 0.0
	for _, c := range t.coded {
		if int(c.id) < len(of.n) {
			dot += c.weight * float64(of.n[c.id])
		}
	}
	return t.cosineOf(dot, of.norm())
}

func (s *Scorer) vector(lang string) topicVector {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, known := s.byLanguage[lang]; known {
		return v
	}
	own := Vector{}
	for _, k := range s.topic.Keywords {
		s.analyser.Add(own, k, lang, 1)
	}
	for _, e := range s.topic.Entities {
		s.analyser.Add(own, e.Name, lang, 1)
		for _, alias := range e.Aliases {
			s.analyser.Add(own, alias, lang, 0.5)
		}
	}
	for term, weight := range own {
		own[term] = min(weight, 2) // a word of many names is not many times as telling
	}
	total := Vector{}
	total.add(own, 1/max(own.norm(), 1e-9))
	for _, e := range s.topic.Examples {
		if e.Text != "" {
			v := s.analyser.Vector(e.Text, lang)
			total.add(v, feedback/max(v.norm(), 1e-9))
		}
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

// cosine is Eq. 1 of Batsakis et al.: in [0,1], for no weight is negative.
func (t topicVector) cosine(v Vector) float64 {
	if t.norm == 0 || len(v) == 0 {
		return 0
	}
	dot := 0.0
	if len(v) < len(t.terms) {
		for term, w := range v {
			dot += w * t.terms[term]
		}
	} else {
		for term, w := range t.terms {
			dot += w * v[term]
		}
	}
	return t.cosineOf(dot, v.norm())
}

// cosineOf is rounded, for sums in map order differ in the last bits.
func (t topicVector) cosineOf(dot, norm float64) float64 {
	if dot == 0 {
		return 0
	}
	return min(math.Round(dot/(t.norm*norm)*1e9)/1e9, 1)
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
	terms := make([]Term, 0, len(v))
	for text, weight := range v {
		terms = append(terms, Term{text, weight})
	}
	slices.SortFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Text, b.Text))
	})
	return terms[:min(n, len(terms))]
}

// Learn makes a topic vector of the samples of a reference crawl: the centroid of the most relevant
// pages, its terms weighted by how few of all pages have them (idf over the reference crawl).
// The same samples give the same result in any order.
func Learn(samples []Sample) Learned {
	slices.SortFunc(samples, func(a, b Sample) int {
		if a.Example != b.Example {
			return cmp.Compare(btoi(b.Example), btoi(a.Example))
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
	best := max(int(float64(len(samples))*learnedShare), learnedLeast)
	df := Vector{}
	for _, s := range samples {
		for _, t := range s.Terms {
			df[t.Text]++
		}
	}
	out := Learned{Pages: len(samples)}
	centroid := Vector{}
	for i, s := range samples {
		if !s.Example && (i >= best || s.Score <= 0) {
			continue
		}
		v := Vector{}
		for _, t := range s.Terms {
			v[t.Text] = t.Weight
		}
		centroid.add(v, 1/max(v.norm(), 1e-9))
		out.Relevant++
		if len(out.Examples) < 10 {
			out.Examples = append(out.Examples, s.URL)
		}
	}
	for term := range centroid {
		centroid[term] *= math.Log(1 + float64(len(samples))/df[term])
	}
	out.Terms = centroid.heaviest(learnedTerms)
	for i := range out.Terms {
		out.Terms[i].Weight = math.Round(out.Terms[i].Weight*1e6) / 1e6
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// IsExample tells whether the definition names the canonical URL, in whatever form, as an example page.
func IsExample(t crawl.Topic, url string) bool {
	return slices.ContainsFunc(t.Examples, func(e crawl.Example) bool {
		u, err := urls.Parse(e.URL)
		return err == nil && u.String() == url
	})
}

package score

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Scorer scores the pages of one crawl. It is safe for concurrent use.
type Scorer struct {
	topic      crawl.Topic
	weights    map[crawl.PartName]float64
	model      *topic.Model // nil: nothing was learned
	examples   []exampleText
	patterns   []urlPattern
	dictionary *Dictionary
	memory     topic.Memory
	analysers  []analyser

	mu         sync.Mutex
	byLanguage map[string]topicVector
}

type urlPattern struct {
	scope.Pattern
	score float64
}

// New makes the scorer of a definition, with the model of its reference crawl (nil if there is none yet). It fails if a URL pattern
// of the topic is wrong.
func New(d crawl.Definition, model *topic.Model, dictionary *Dictionary, memory topic.Memory) (*Scorer, error) {
	s := &Scorer{
		topic: d.Topic, weights: d.Weights.ByName(), model: model, dictionary: dictionary, memory: memory,
		byLanguage: map[string]topicVector{}, examples: exampleTexts(d.Topic),
	}
	for i, p := range d.Topic.URLPatterns {
		compiled, err := scope.Compile(p.Pattern)
		if err != nil {
			return nil, fmt.Errorf("topic.url_patterns[%d]: %w", i, err)
		}
		s.patterns = append(s.patterns, urlPattern{compiled, p.Score})
	}
	for _, make := range analysers {
		if a := make(s); a.name != "" && s.weights[a.name] > 0 {
			s.analysers = append(s.analysers, a)
		}
	}
	return s, nil
}

// Context is what is known about a page from elsewhere, and what is wanted of it.
type Context struct {
	Inherit   float64   // score of links that all analysers are silent about: the page's own priority
	Submitted float64   // the score that the page was submitted with; 0: it was not
	Depth     int       // links from a seed
	Now       time.Time // for the age of pages
	Terms     bool      // whether Scored has Terms
	View      bool      // whether Scored has View
}

// Scored is the result of Scorer.Page.
type Scored struct {
	Verdict     crawl.Verdict
	Terms       text.Vector // nil unless Context asks for it
	View        *order.Page // the page as an order sees it; nil unless Context asks for it
	Observation topic.Observation
}

// current returns the lexicon, the weights of its terms and the topic for pages in a language.
func (s *Scorer) current(lang string) (x *text.Lexicon, w *text.IDF, v topicVector) {
	x = s.dictionary.Lexicon()
	if f := s.memory.DocumentFrequencies; f != nil {
		w = f.Weights(x)
	}
	return x, w, s.topicFor(lang, x, w)
}

// Page scores a page and its links.
func (s *Scorer) Page(p *crawl.Parsed, c Context) Scored {
	x, w, v := s.current(p.Language)
	doc, part := text.NewTally(x), text.NewTally(x)
	defer doc.Free()
	defer part.Free()
	r := &reading{page: p, verdict: crawl.Verdict{Score: silent}, context: c, topic: v, part: part, similarity: silent, weights: w}
	if r.topic.norm > 0 || c.View || c.Terms {
		r.count(doc)
	}
	if r.topic.norm > 0 && !doc.Empty() {
		r.similarity = r.topic.similarity(doc, w)
		r.verdict.Score = r.similarity
	}
	r.terms, r.commonest = doc.Totals()
	s.judge(r)
	out := Scored{Verdict: r.verdict}
	if c.View {
		out.View = r.view(doc, s.topic.Threshold)
	}
	if c.Terms {
		out.Terms = doc.Vector()
	}
	out.Observation = topic.Observation{URL: p.URL, Score: out.Verdict.Score}
	if s.memory.DocumentFrequencies != nil && (out.Verdict.Score < s.topic.Threshold || s.topic.Threshold == 0) {
		out.Observation.Lexicon, out.Observation.Terms = x, doc.IDs()
	}
	return out
}

// judge runs all analysers, and averages their scores of each link.
func (s *Scorer) judge(r *reading) {
	r.pageScores = slices.Grow(r.room[:0], len(s.analysers))[:len(s.analysers)]
	for i, a := range s.analysers {
		r.pageScores[i] = silent
		switch {
		case a.document == nil:
		case r.rescored && a.name != crawl.PartDocument && a.name != crawl.PartLanguage: // the page is no longer in memory
			if said, ok := r.former.Of(a.name); ok {
				r.pageScores[i] = said
			}
		default:
			r.pageScores[i] = a.document(r)
		}
	}
	r.verdict.Links = make([]crawl.LinkVerdict, len(r.page.Links))
	parts := make(crawl.Parts, 0, len(r.page.Links)*3)
	for i := range r.page.Links {
		l, v := &r.page.Links[i], &r.verdict.Links[i]
		begin := len(parts)
		if r.anchor = (anchorText{similarity: silent}); r.anchors != nil {
			r.anchor = r.anchors[i]
		}
		for j, a := range s.analysers {
			said := float64(silent)
			if a.link != nil {
				said = a.link(r, l)
			}
			if said == silent && a.document != nil && inheritsPageScore(l) {
				said = r.pageScores[j]
			}
			if said != silent {
				parts = append(parts, crawl.Part{Name: a.name, Score: said})
			}
		}
		v.Parts = parts[begin:len(parts):len(parts)]
		v.Score = s.average(v.Parts, r.context.Inherit)
		if l.Hop == crawl.HopSpeculative {
			v.Score *= speculative
		}
	}
}

// RescoreOutlink scores a link again by the present topic, from what was archived of it: the former verdict, the terms of the page
// it stands on, its paragraph and anchor. Without terms, the part "document" keeps its score. It returns the new verdict, and the
// page as an order sees it, with this one link.
func (s *Scorer) RescoreOutlink(l crawl.Outlink, former crawl.LinkVerdict, terms []text.Term, paragraph, lang string) (crawl.LinkVerdict, *order.Page) {
	x, w, v := s.current(lang)
	part, doc := text.NewTally(x), text.NewTally(x)
	defer part.Free()
	defer doc.Free()
	l.Block = 0
	p := &crawl.Parsed{Page: crawl.Page{Language: lang, Links: []crawl.Outlink{l}}}
	r := &reading{
		page: p, context: Context{Inherit: former.Score}, topic: v, part: part, similarity: silent, weights: w,
		rescored: true, former: former.Parts,
	}
	if before, said := former.Parts.Of(crawl.PartDocument); said {
		r.similarity = before
	}
	if doc.AddTerms(terms); len(terms) > 0 && r.topic.norm > 0 {
		r.similarity = r.topic.similarity(doc, w)
	}
	r.blocks = []float64{r.similarityOf(paragraph)}
	r.verdict.Score = r.similarity
	part.Count(paragraph, lang, 1)
	r.context.View = true
	r.blockTerms = []text.HashedVector{part.Hashed()}
	part.Reset()
	r.readAnchors()
	s.judge(r)
	return r.verdict.Links[0], r.view(doc, s.topic.Threshold)
}

// average is the weighted mean of parts; inherit if there are none.
func (s *Scorer) average(parts crawl.Parts, inherit float64) float64 {
	sum, weights := 0.0, 0.0
	for _, p := range parts {
		w := s.weights[p.Name]
		sum += p.Score * w
		weights += w
	}
	if weights == 0 {
		return Clamp(inherit)
	}
	return Clamp(sum / weights)
}

// Sample is what a reference crawl can learn from a page with this verdict and these terms.
func (s *Scorer) Sample(p *crawl.Page, v *crawl.Verdict, terms text.Vector) topic.Sample {
	return topic.NewSample(s.topic, p, v, terms, s.dictionary.Lexicon())
}

// Clamp brings a score into [0,1]; NaN becomes 0.
func Clamp(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

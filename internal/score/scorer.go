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

// titleWeight is how often a word of the title counts.
const titleWeight = 3

// Scorer scores the pages of one crawl. It is safe for concurrent use.
type Scorer struct {
	topic      crawl.Topic
	weights    map[string]float64
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

// New makes the scorer of a definition, with what was learned (nil if nothing was yet).
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

// Context is what is known of a page beside itself.
type Context struct {
	Inherit   float64   // what a link gets of which no analyser says anything: the page's own priority
	Submitted float64   // the score that the page was submitted with; 0: it was not
	Depth     int       // links from a seed
	Now       time.Time // for the age of pages
	Terms     bool      // the page's terms are asked for
	View      bool      // what an order sees is asked for
}

// Scored is what is handed on of a page.
type Scored struct {
	Verdict     crawl.Verdict
	Terms       text.Vector // nil unless asked for
	View        *order.Page // nil unless asked for
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

// judge has all analysers speak, and averages what they say of the links.
func (s *Scorer) judge(r *reading) {
	r.pageScores = slices.Grow(r.room[:0], len(s.analysers))[:len(s.analysers)]
	for i, a := range s.analysers {
		r.pageScores[i] = silent
		switch {
		case a.document == nil:
		case r.rescored && a.name != "document" && a.name != "language": // the page is not there any more
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
	}
}

// count counts the terms of the blocks into doc, of those only that are content where the helper knows, and those of the
// title; it scores those blocks that links stand in.
func (r *reading) count(doc *text.Tally) {
	p := r.page
	r.blocks = make([]float64, len(p.Blocks))
	for i := range r.blocks {
		r.blocks[i] = silent
	}
	if r.context.View {
		r.blockTerms = make([]text.HashedVector, len(p.Blocks))
	}
	linked := make([]bool, len(p.Blocks))
	for i := range p.Links {
		if l := &p.Links[i]; anchored(l) && l.Block >= 0 && l.Block < len(linked) {
			linked[l.Block] = true
		}
	}
	for i, block := range p.Blocks {
		content := p.Content == nil || p.Content[i]
		if !linked[i] {
			if content {
				doc.Count(block, p.Language, 1)
			}
			continue
		}
		r.part.Count(block, p.Language, 1)
		if content {
			doc.AddTally(r.part)
		}
		if !r.part.Empty() && r.topic.norm > 0 {
			r.blocks[i] = r.topic.similarity(r.part, r.weights)
		}
		if r.context.View {
			r.blockTerms[i] = r.part.Hashed()
		}
		r.part.Reset()
	}
	doc.Count(p.Title, p.Language, titleWeight)
}

// view is what an order sees of the page.
func (r *reading) view(doc *text.Tally, threshold float64) *order.Page {
	p := r.page
	terms := func(words string) text.HashedVector {
		if words == "" {
			return nil
		}
		r.part.Count(words, p.Language, 1)
		defer r.part.Reset()
		return r.part.Hashed()
	}
	v := &order.Page{URL: p.URL, Depth: r.context.Depth, Title: terms(p.Title), Text: doc.Hashed(), Score: r.verdict.Score, Links: make([]order.Link, len(p.Links))}
	for i := range p.Links {
		l, o := &p.Links[i], &v.Links[i]
		*o = order.Link{URL: l.URL, TagPath: l.TagPath, Hints: hints(r.verdict.Links[i].Parts, threshold)}
		if anchored(l) {
			o.Name, o.Anchor = l.Anchor, terms(l.Anchor)
			if l.Block >= 0 && l.Block < len(r.blockTerms) {
				o.Around = r.blockTerms[l.Block]
			}
		}
	}
	return v
}

// hints are what analysers say of a link, for orders that learn how much each of them is worth. What they say of its page
// is known to an order otherwise.
func hints(parts crawl.Parts, threshold float64) []order.Hint {
	list := make([]order.Hint, 0, len(parts))
	for _, p := range parts {
		value := p.Score
		switch p.Name {
		case "document":
			continue
		case "helper", "url", "social", "language":
			value = 2*p.Score - 1 // one half says nothing
		case "history": // the threshold does
			if threshold <= 0 {
				threshold = 0.5
			}
			value = min(p.Score/threshold, 2) - 1
		case "spam":
			value = p.Score - 1
		}
		name := p.Name
		if name == "url" {
			name = "patterns"
		}
		list = append(list, order.Hint{Name: name, Value: value})
	}
	return list
}

// RescoreOutlink scores a link again by the present topic, from what was kept of it: the former verdict, the terms of the page it
// stands on, its paragraph and anchor. Without terms, the page's part stays as it was. It returns the new verdict, and what an
// order sees of the page, with this one link.
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
	if before, said := former.Parts.Of("document"); said {
		r.similarity = before
	}
	if doc.AddTerms(terms); len(terms) > 0 && r.topic.norm > 0 {
		r.similarity = r.topic.similarity(doc, w)
	}
	r.blocks = []float64{r.similarityOf(paragraph)}
	r.verdict.Score = r.similarity
	part.Count(paragraph, lang, 1)
	r.blockTerms = []text.HashedVector{part.Hashed()}
	part.Reset()
	s.judge(r)
	return r.verdict.Links[0], r.view(doc, s.topic.Threshold)
}

// average is the weighted average over the parts that spoke.
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

// Sample keeps what a page with this verdict and these terms can teach.
func (s *Scorer) Sample(p *crawl.Page, v *crawl.Verdict, terms text.Vector) topic.Sample {
	return topic.NewSample(s.topic, p, v, terms, s.dictionary.Lexicon())
}

// Clamp brings a score into [0,1]; what is no number counts as 0.
func Clamp(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

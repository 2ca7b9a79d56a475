package score

import (
	"fmt"
	"math"
	"sync"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// silent stands for a part that said nothing.
const silent = -1

// titleWeight is how often a word of the title counts.
const titleWeight = 3

// Scorer scores the pages of one crawl. It is safe for concurrent use.
type Scorer struct {
	topic    crawl.Topic
	weights  crawl.Weights
	learned  *Learned
	patterns []urlPattern
	analyser *Analyser

	mu         sync.Mutex
	byLanguage map[string]topicVector
}

type urlPattern struct {
	scope.Pattern
	score float64
}

// New makes the scorer of a definition, with what was learned (nil if nothing was yet).
func New(d crawl.Definition, learned *Learned, analyser *Analyser) (*Scorer, error) {
	s := &Scorer{topic: d.Topic, weights: d.Weights, learned: learned, analyser: analyser, byLanguage: map[string]topicVector{}}
	for i, p := range d.Topic.URLPatterns {
		compiled, err := scope.Compile(p.Pattern)
		if err != nil {
			return nil, fmt.Errorf("topic.url_patterns[%d]: %w", i, err)
		}
		s.patterns = append(s.patterns, urlPattern{compiled, p.Score})
	}
	return s, nil
}

// Page scores a page and its links in place. inherit is the page's own priority: what a link gets of
// which no part says anything. The returned vector holds the page's terms, if they are asked for.
func (s *Scorer) Page(p *crawl.Page, inherit float64, terms bool) Vector {
	x := s.analyser.lexicon()
	topic := s.topicIn(p.Language, x)
	p.Score = silent
	doc, part := newTally(x), newTally(x)
	defer doc.free()
	defer part.free()
	var blocks []float64
	if topic.norm > 0 {
		blocks = s.blocks(doc, part, p, topic)
		doc.count(p.Title, p.Language, titleWeight)
		if len(doc.seen) > 0 {
			p.Score = topic.near(doc)
		}
	}
	for i := range p.Links {
		s.link(&p.Links[i], p, topic, blocks, part, inherit)
	}
	if !terms {
		return nil
	}
	return doc.vector()
}

// anchored tells of links that stand in the text of a page.
func anchored(l *crawl.Outlink) bool { return l.Hop == crawl.HopLink || l.Hop == crawl.HopPaging }

// blocks counts the terms of the blocks into doc, of those only that are content where the helper knows, and scores those blocks that links stand in.
func (s *Scorer) blocks(doc, part *tally, p *crawl.Page, topic topicVector) []float64 {
	scores := make([]float64, len(p.Blocks))
	for i := range scores {
		scores[i] = silent
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
				doc.count(block, p.Language, 1)
			}
			continue
		}
		part.count(block, p.Language, 1)
		if content {
			doc.addAll(part)
		}
		if len(part.seen) > 0 {
			scores[i] = topic.near(part)
		}
		part.reset()
	}
	return scores
}

func (s *Scorer) link(l *crawl.Outlink, p *crawl.Page, topic topicVector, blocks []float64, part *tally, inherit float64) {
	parts := crawl.Parts{Document: p.Score, Paragraph: silent, Anchor: silent, URL: s.url(l.URL), Helper: silent}
	switch l.Hop {
	case crawl.HopRedirect, crawl.HopSitemap:
		parts.Document = silent
	case crawl.HopLink, crawl.HopPaging:
		if topic.norm > 0 && l.Block >= 0 && l.Block < len(blocks) {
			parts.Paragraph = blocks[l.Block]
		}
		if topic.norm > 0 && l.Anchor != "" {
			part.count(l.Anchor, p.Language, 1)
			if len(part.seen) > 0 { // "»" and "here" say nothing
				parts.Anchor = topic.near(part)
			}
			part.reset()
		}
	}
	if l.Prior > 0 {
		parts.Helper = l.Prior
	}
	l.Parts = parts
	l.Score = s.average(parts, inherit)
}

// Relink scores a link anew by the present topic, from what was kept of it: the terms of the page it
// stands on, its paragraph and anchor. Without terms, the page's part stays as it was.
func (s *Scorer) Relink(l *crawl.Outlink, terms []Term, paragraph, lang string) {
	x := s.analyser.lexicon()
	topic := s.topicIn(lang, x)
	p := crawl.Page{Language: lang, Score: l.Parts.Document}
	if len(terms) > 0 && topic.norm > 0 {
		v := Vector{}
		for _, t := range terms {
			v[t.Text] = t.Weight
		}
		p.Score = topic.cosine(v)
	}
	part := newTally(x)
	defer part.free()
	blocks := []float64{silent}
	if part.count(paragraph, lang, 1); len(part.seen) > 0 {
		blocks[0] = topic.near(part)
	}
	part.reset()
	l.Block = 0
	s.link(l, &p, topic, blocks, part, l.Score)
}

// average is the weighted average over the parts that spoke.
func (s *Scorer) average(p crawl.Parts, inherit float64) float64 {
	sum, weights := 0.0, 0.0
	add := func(value, weight float64) {
		if value != silent {
			sum += value * weight
			weights += weight
		}
	}
	add(p.Document, s.weights.Document)
	add(p.Paragraph, s.weights.Paragraph)
	add(p.Anchor, s.weights.Anchor)
	add(p.URL, s.weights.URL)
	add(p.Helper, s.weights.Helper)
	if weights == 0 {
		return Clamp(inherit)
	}
	return Clamp(sum / weights)
}

func (s *Scorer) url(raw string) float64 {
	if len(s.patterns) == 0 {
		return silent
	}
	u, err := urls.Trusted(raw)
	if err != nil {
		return silent
	}
	best := float64(silent)
	for _, p := range s.patterns {
		if p.Match(u) {
			best = max(best, p.score)
		}
	}
	return best
}

// Sample keeps what a page can teach.
func (s *Scorer) Sample(p *crawl.Page, v Vector) Sample {
	return Sample{URL: p.URL, Score: max(p.Score, 0), Example: IsExample(s.topic, p.URL), Terms: v.heaviest(sampleTerms)}
}

// Clamp brings a score into [0,1]; what is no number counts as 0.
func Clamp(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

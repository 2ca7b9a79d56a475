package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// reading is a page while it is judged.
type reading struct {
	page       *crawl.Parsed
	verdict    crawl.Verdict // its Score first, its Links by Scorer.judge
	context    Context
	topic      topicVector
	weights    *text.IDF
	similarity float64 // of the page's terms with the topic; silent if there is no topic or no text
	terms      float64 // sum of the frequencies of its terms
	commonest  float64 // frequency of its most frequent term

	blocks     []float64           // similarity of the text blocks with links; silent for the others
	blockTerms []text.HashedVector // their terms, for orders
	pageScores []float64           // the score of the page by each analyser, for its links
	room       [16]float64         // backs pageScores, unless there are more analysers: saves an allocation
	part       *text.Tally         // for short use: empty between two uses

	// A link is scored again: its page is no longer in memory.
	rescored bool
	former   crawl.Parts // the earlier scores of the link
}

// anchored reports whether a link stands in the text of a page.
func anchored(l *crawl.Outlink) bool { return l.Hop == crawl.HopLink || l.Hop == crawl.HopPaging }

// inheritsPageScore reports whether a link takes over the scores of the page that it stands on.
func inheritsPageScore(l *crawl.Outlink) bool {
	return l.Hop != crawl.HopRedirect && l.Hop != crawl.HopSitemap
}

// similarityOf is the cosine of a text with the topic; silent if there is no topic, or the text has no terms.
func (r *reading) similarityOf(s string) float64 {
	if r.topic.norm == 0 || s == "" {
		return silent
	}
	r.part.Count(s, r.page.Language, 1)
	defer r.part.Reset()
	if r.part.Empty() { // such as "»" and "here"
		return silent
	}
	return r.topic.similarity(r.part, r.weights)
}

// titleWeight is how many times a word of the title counts, where one of a block counts once.
const titleWeight = 3

// count adds the terms of the title and of the blocks to doc; only those of content, if the helper knows which blocks are content.
// It scores the blocks that have links.
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

// view is the page as an order sees it.
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

// hints are the scores of a link by the analysers, for orders that learn the weight of each. A value of 0 is neutral. "document" is
// not among them: an order sees the page itself.
func hints(parts crawl.Parts, threshold float64) []order.Hint {
	list := make([]order.Hint, 0, len(parts))
	for _, p := range parts {
		value := p.Score
		switch p.Name {
		case "document":
			continue
		case "helper", "url", "social", "language":
			value = 2*p.Score - 1 // one half is neutral
		case "history": // the threshold is neutral
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

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
	anchors    []anchorText        // by link
	anchor     anchorText          // of the link that is judged
	pageScores []float64           // the score of the page by each analyser, for its links
	room       [16]float64         // backs pageScores, unless there are more analysers: saves an allocation
	part       *text.Tally         // for short use: empty between two uses

	// A link is scored again: its page is no longer in memory.
	rescored bool
	former   crawl.Parts // the earlier scores of the link
}

// anchorText is what the text of a link says.
type anchorText struct {
	similarity float64           // with the topic; silent if there is no topic, or the text has no terms
	terms      text.HashedVector // for orders
}

// anchored reports whether a link stands in the text of a page.
func anchored(l *crawl.Outlink) bool { return l.Hop == crawl.HopLink || l.Hop == crawl.HopPaging }

// speculative is the factor of the score of a link that is probably embedded: what surely is comes first.
const speculative = .5

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
	r.readAnchors()
}

// readAnchors counts the terms of the anchors, once for the analyser of anchors and for orders. An anchor that is the whole text of
// its block, as in menus, is counted already.
func (r *reading) readAnchors() {
	p := r.page
	r.anchors = make([]anchorText, len(p.Links))
	for i := range p.Links {
		l, a := &p.Links[i], &r.anchors[i]
		a.similarity = silent
		if !anchored(l) || l.Anchor == "" {
			continue
		}
		if b := l.Block; b >= 0 && b < len(p.Blocks) && l.Anchor == p.Blocks[b] {
			a.similarity = r.blocks[b]
			if r.context.View {
				a.terms = r.blockTerms[b]
			}
			continue
		}
		r.part.Count(l.Anchor, p.Language, 1)
		if !r.part.Empty() && r.topic.norm > 0 {
			a.similarity = r.topic.similarity(r.part, r.weights)
		}
		if r.context.View {
			a.terms = r.part.Hashed()
		}
		r.part.Reset()
	}
}

// view is the page as an order sees it.
func (r *reading) view(doc *text.Tally, threshold float64) *order.Page {
	p := r.page
	r.part.Count(p.Title, p.Language, 1)
	v := &order.Page{URL: p.URL, Depth: r.context.Depth, Title: r.part.Hashed(), Text: doc.Hashed(), Score: r.verdict.Score, Links: make([]order.Link, len(p.Links))}
	r.part.Reset()
	scores := 0
	for i := range r.verdict.Links {
		scores += len(r.verdict.Links[i].Parts)
	}
	all := make([]order.Hint, 0, scores) // the hints of all links
	for i := range p.Links {
		l, o := &p.Links[i], &v.Links[i]
		begin := len(all)
		all = appendHints(all, r.verdict.Links[i].Parts, threshold)
		*o = order.Link{URL: l.URL, TagPath: l.TagPath, Hints: all[begin:len(all):len(all)]}
		if anchored(l) {
			o.Name, o.Anchor = l.Anchor, r.anchors[i].terms
			if l.Block >= 0 && l.Block < len(r.blockTerms) {
				o.Around = r.blockTerms[l.Block]
			}
		}
	}
	return v
}

// appendHints appends the scores of a link by the analysers, for orders that learn the weight of each. A value of 0 is neutral. "document" is
// not among them: an order sees the page itself.
func appendHints(list []order.Hint, parts crawl.Parts, threshold float64) []order.Hint {
	for _, p := range parts {
		value := p.Score
		switch p.Name {
		case crawl.PartDocument:
			continue
		case crawl.PartHelper, crawl.PartURL, crawl.PartSocial, crawl.PartLanguage:
			value = 2*p.Score - 1 // one half is neutral
		case crawl.PartHistory: // the threshold is neutral
			if threshold <= 0 {
				threshold = 0.5
			}
			value = min(p.Score/threshold, 2) - 1
		case crawl.PartSpam:
			value = p.Score - 1
		}
		name := string(p.Name)
		if p.Name == crawl.PartURL {
			name = "patterns"
		}
		list = append(list, order.Hint{Name: name, Value: value})
	}
	return list
}

package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

// silent stands for an analyser that says nothing.
const silent = -1

// analyser judges pages, links, or both. A score of a page alone is passed on to the links in its text, one of a link
// alone leaves the page as it is. Scores are in [0,1], or silent. They are safe for concurrent use.
type analyser struct {
	name     string // of the part, and of its weight
	document func(*reading) float64
	link     func(*reading, *crawl.Outlink) float64
}

// analysers make the analysers of a crawl, in the order of their parts. One that has nothing to say in this crawl is
// the zero analyser.
var analysers = []func(*Scorer) analyser{
	document, paragraph, anchor, patterns, tokens, entities, history, language, freshness, spam, social, helper,
}

// reading is a page while it is judged.
type reading struct {
	page      *crawl.Page
	context   Context
	topic     topicVector
	part      *text.Tally // empty between two uses
	near      float64     // of the page's terms to the topic; silent if there is no topic or no text
	blocks    []float64   // … of the blocks that links stand in
	passed    []float64   // document scores by analyser
	around    []text.HashedVector
	weights   *text.IDF
	terms     float64     // how many there are on the page
	commonest float64     // how often it has the one that it has oftenest
	before    crawl.Parts // of a link that is scored anew: what was said of its page; nil else
	anew      bool
}

// anchored tells of links that stand in the text of a page.
func anchored(l *crawl.Outlink) bool { return l.Hop == crawl.HopLink || l.Hop == crawl.HopPaging }

// inherits tells of links that what is said of their page says something of.
func inherits(l *crawl.Outlink) bool { return l.Hop != crawl.HopRedirect && l.Hop != crawl.HopSitemap }

// text is the score of a text by the topic.
func (r *reading) text(s string) float64 {
	if r.topic.norm == 0 || s == "" {
		return silent
	}
	r.part.Count(s, r.page.Language, 1)
	defer r.part.Reset()
	if r.part.Empty() { // "»" and "here" say nothing
		return silent
	}
	return r.topic.near(r.part, r.weights)
}

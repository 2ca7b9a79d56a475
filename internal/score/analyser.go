package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

// silent is the score of an analyser that gives none.
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
	documentAnalyser, paragraphAnalyser, anchorAnalyser, urlPatternsAnalyser, tokensAnalyser, entitiesAnalyser, historyAnalyser,
	languageAnalyser, freshnessAnalyser, spamAnalyser, socialAnalyser, helperAnalyser,
}

// reading is a page while it is judged.
type reading struct {
	page       *crawl.Parsed
	verdict    crawl.Verdict // as far as it is known
	context    Context
	topic      topicVector
	weights    *text.IDF
	similarity float64 // of the page's terms with the topic; silent if there is no topic or no text
	terms      float64 // how many there are on the page
	commonest  float64 // count of its most frequent term

	blocks     []float64           // similarity of the text blocks that links stand in; silent of the others
	blockTerms []text.HashedVector // their terms, for orders
	pageScores []float64           // what each analyser says of the page, for its links
	room       [16]float64         // of pageScores, as long as there are not more analysers
	part       *text.Tally         // for short use: empty between two

	// Of a link that is scored again: its page is not there any more.
	rescored bool
	former   crawl.Parts // what was said of the link before
}

// anchored reports whether a link stands in the text of a page.
func anchored(l *crawl.Outlink) bool { return l.Hop == crawl.HopLink || l.Hop == crawl.HopPaging }

// inheritsPageScore reports whether what is said of a page goes for a link of it.
func inheritsPageScore(l *crawl.Outlink) bool {
	return l.Hop != crawl.HopRedirect && l.Hop != crawl.HopSitemap
}

// similarityOf is the cosine of a text with the topic; silent of a text without terms.
func (r *reading) similarityOf(s string) float64 {
	if r.topic.norm == 0 || s == "" {
		return silent
	}
	r.part.Count(s, r.page.Language, 1)
	defer r.part.Reset()
	if r.part.Empty() { // "»" and "here" say nothing
		return silent
	}
	return r.topic.similarity(r.part, r.weights)
}

package score

import "github.com/muninn-archive/muninn/internal/crawl"

// silent is the score of an analyser that has nothing to say about a page or link.
const silent = -1

// analyser judges pages, links, or both. A link about which it is silent takes over its score of the page. Scores are in [0,1], or
// silent. Analysers are safe for concurrent use.
type analyser struct {
	name     crawl.PartName // of the part of the score, and of its weight in the definition
	document func(*reading) float64
	link     func(*reading, *crawl.Outlink) float64
}

// analysers make the analysers of a crawl, in the order of their parts. They return the zero analyser if the crawl has no
// use for one.
var analysers = []func(*Scorer) analyser{
	documentAnalyser, paragraphAnalyser, anchorAnalyser, urlPatternsAnalyser, tokensAnalyser, entitiesAnalyser, historyAnalyser,
	languageAnalyser, freshnessAnalyser, spamAnalyser, socialAnalyser, helperAnalyser,
}

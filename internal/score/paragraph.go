package score

import "github.com/muninn-archive/muninn/internal/crawl"

// paragraphAnalyser scores a link by the cosine of the text block around it with the topic.
func paragraphAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartParagraph, link: func(r *reading, l *crawl.Outlink) float64 {
		if !anchored(l) || l.Block < 0 || l.Block >= len(r.blocks) {
			return silent
		}
		return r.blocks[l.Block]
	}}
}

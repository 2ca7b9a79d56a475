package score

import "github.com/muninn-archive/muninn/internal/crawl"

// anchorAnalyser scores a link by the cosine of its anchor text with the topic.
func anchorAnalyser(*Scorer) analyser {
	return analyser{name: "anchor", link: func(r *reading, l *crawl.Outlink) float64 {
		if !anchored(l) {
			return silent
		}
		return r.similarityOf(l.Anchor)
	}}
}

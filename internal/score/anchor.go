package score

import "github.com/muninn-archive/muninn/internal/crawl"

// anchorAnalyser is that of the anchor.
func anchorAnalyser(*Scorer) analyser {
	return analyser{name: "anchor", link: func(r *reading, l *crawl.Outlink) float64 {
		if !anchored(l) {
			return silent
		}
		return r.similarityOf(l.Anchor)
	}}
}

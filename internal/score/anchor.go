package score

import "github.com/muninn-archive/muninn/internal/crawl"

// anchorAnalyser scores a link by the cosine of its anchor text with the topic.
func anchorAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartAnchor, link: func(r *reading, _ *crawl.Outlink) float64 { return r.anchor.similarity }}
}

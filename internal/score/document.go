package score

import "github.com/muninn-archive/muninn/internal/crawl"

// documentAnalyser scores a page by the cosine of its terms with the topic.
func documentAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartDocument, document: func(r *reading) float64 { return r.similarity }}
}

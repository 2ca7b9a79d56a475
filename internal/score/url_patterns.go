package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// urlPatternsAnalyser scores a link with the best score among the patterns of the definition that its URL matches.
func urlPatternsAnalyser(s *Scorer) analyser {
	if len(s.patterns) == 0 {
		return analyser{}
	}
	return analyser{name: crawl.PartURL, link: func(_ *reading, l *crawl.Outlink) float64 {
		u, err := urls.Trusted(l.URL)
		if err != nil {
			return silent
		}
		best := float64(silent)
		for _, p := range s.patterns {
			if p.Match(u) {
				best = max(best, p.score)
			}
		}
		return best
	}}
}

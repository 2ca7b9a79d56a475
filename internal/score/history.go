package score

import "github.com/muninn-archive/muninn/internal/crawl"

// historyAnalyser scores a link by the mean score of the pages in its folder, or on its host.
func historyAnalyser(s *Scorer) analyser {
	if s.memory.SiteHistory == nil {
		return analyser{}
	}
	return analyser{name: crawl.PartHistory, link: func(_ *reading, l *crawl.Outlink) float64 {
		if mean, known := s.memory.SiteHistory.Score(l.URL); known {
			return mean
		}
		return silent
	}}
}

package score

import "github.com/muninn-archive/muninn/internal/crawl"

// historyAnalyser is what the pages of a link's folder or host were worth.
func historyAnalyser(s *Scorer) analyser {
	if s.memory.SiteHistory == nil {
		return analyser{}
	}
	return analyser{name: "history", link: func(_ *reading, l *crawl.Outlink) float64 {
		if mean, known := s.memory.SiteHistory.Score(l.URL); known {
			return mean
		}
		return silent
	}}
}

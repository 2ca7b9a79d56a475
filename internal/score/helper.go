package score

import "github.com/muninn-archive/muninn/internal/crawl"

// helperAnalyser scores a link by the level of the application that it leads to, as the helper expects.
func helperAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartHelper, link: func(_ *reading, l *crawl.Outlink) float64 {
		if l.Prior <= 0 {
			return silent
		}
		return l.Prior
	}}
}

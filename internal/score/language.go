package score

import "github.com/muninn-archive/muninn/internal/crawl"

// languageAnalyser scores a page 1 if it is in a language of the topic, else 0.
func languageAnalyser(s *Scorer) analyser {
	if len(s.topic.Languages) == 0 {
		return analyser{}
	}
	wanted := map[string]bool{}
	for _, l := range s.topic.Languages {
		wanted[l] = true
	}
	return analyser{name: crawl.PartLanguage, document: func(r *reading) float64 {
		switch {
		case r.page.Language == "":
			return silent
		case wanted[r.page.Language]:
			return 1
		}
		return 0
	}}
}

package score

import "github.com/muninn-archive/muninn/internal/crawl"

// helper is what the helper expects behind a link, by the level of the application that it leads to.
func helper(*Scorer) analyser {
	return analyser{name: "helper", link: func(_ *reading, l *crawl.Outlink) float64 {
		if l.Prior <= 0 {
			return silent
		}
		return l.Prior
	}}
}

// social is the score that a page was submitted with.
func social(*Scorer) analyser {
	return analyser{name: "social", document: func(r *reading) float64 {
		if r.context.Submitted <= 0 || r.context.Submitted >= 1 { // 1 is what seeds have
			return silent
		}
		return r.context.Submitted
	}}
}

// language tells whether a page is in a language of the topic.
func language(s *Scorer) analyser {
	if len(s.topic.Languages) == 0 {
		return analyser{}
	}
	wanted := map[string]bool{}
	for _, l := range s.topic.Languages {
		wanted[l] = true
	}
	return analyser{name: "language", document: func(r *reading) float64 {
		switch {
		case r.page.Language == "":
			return silent
		case wanted[r.page.Language]:
			return 1
		}
		return 0
	}}
}

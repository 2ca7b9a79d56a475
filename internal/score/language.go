package score

// languageAnalyser reports whether a page is in a language of the topic.
func languageAnalyser(s *Scorer) analyser {
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

package score

// socialAnalyser is the score that a page was submitted with.
func socialAnalyser(*Scorer) analyser {
	return analyser{name: "social", document: func(r *reading) float64 {
		if r.context.Submitted <= 0 || r.context.Submitted >= 1 { // 1 is what seeds have
			return silent
		}
		return r.context.Submitted
	}}
}

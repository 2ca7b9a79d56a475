package score

// documentAnalyser is the cosine of the terms of the page with the topic's.
func documentAnalyser(*Scorer) analyser {
	return analyser{name: "document", document: func(r *reading) float64 { return r.similarity }}
}

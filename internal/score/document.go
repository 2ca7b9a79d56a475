package score

// documentAnalyser scores a page by the cosine of its terms with the topic.
func documentAnalyser(*Scorer) analyser {
	return analyser{name: "document", document: func(r *reading) float64 { return r.similarity }}
}

package score

import "github.com/muninn-archive/muninn/internal/crawl"

// socialAnalyser scores a page with the score that it was submitted with.
func socialAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartSocial, document: func(r *reading) float64 {
		if r.context.Submitted <= 0 || r.context.Submitted >= 1 { // seeds have 1
			return silent
		}
		return r.context.Submitted
	}}
}

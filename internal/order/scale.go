package order

import "slices"

// scale is what document scores are measured by: how high they are in this crawl. What a score means differs between topics: three keywords give a page of the topic .05, twenty
// give it .5. Cut at a fixed score, either all pages would be worth the same or none anything.
type scale struct {
	scores []float32 // some of those that were seen
	seen   int
	full   float64 // the score of a page that is worth 1; 0: too few are known
	random random
}

const (
	maxScores   = 300 // that are kept
	leastScores = 10  // from which on the scale is the crawl's own
	fullScore   = 0.9 // quantile of the scores that is worth 1
)

// add takes in the score of a page; 0 says nothing.
func (s *scale) add(score float64) {
	if !(score > 0) {
		return
	}
	s.seen++
	if len(s.scores) < maxScores {
		s.scores = append(s.scores, float32(score))
	} else if at := s.random.below(s.seen); at < maxScores {
		s.scores[at] = float32(score)
	}
	if s.seen%leastScores == 0 {
		s.fit()
	}
}

func (s *scale) fit() {
	if len(s.scores) >= leastScores {
		sorted := slices.Sorted(slices.Values(s.scores))
		s.full = float64(sorted[int(fullScore*float64(len(sorted)-1))])
	}
}

// worth is what a page with a score is worth; enough is the score of a page that is worth 1 before the crawl has its own scale.
func (s *scale) worth(score, enough float64) float64 {
	if s.full > 0 {
		enough = s.full
	}
	return min(score/enough, 1)
}

package record

import "github.com/muninn-archive/muninn/internal/crawl"

// Link is a link to a URL, as the page that it was found on was judged.
type Link struct {
	Score    float64
	Features []byte // what the order keeps with it, see crawl.Discovery
	Parts    []byte // of the score, by crawl.Parts.Encode
}

// Scores summarizes the scores that a URL got from several pages.
type Scores struct {
	Count                 uint32
	Sum, Max, First, Last float32
}

// Add takes in the score of one more link.
func (a *Scores) Add(score float64) {
	s := float32(score)
	if a.Count == 0 {
		a.First, a.Max = s, s
	}
	a.Count++
	a.Sum += s
	a.Max = max(a.Max, s)
	a.Last = s
}

// Value applies an update function (paper §4.4).
func (a Scores) Value(update string) float64 {
	switch update {
	case crawl.UpdateFirst:
		return float64(a.First)
	case crawl.UpdateLast:
		return float64(a.Last)
	case crawl.UpdateAvg:
		return float64(a.Sum) / float64(max(a.Count, 1))
	case crawl.UpdateSum:
		return float64(a.Sum)
	}
	return float64(a.Max)
}

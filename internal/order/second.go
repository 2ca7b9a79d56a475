package order

import (
	"cmp"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// secondView is what stands beside the document score where keywords alone are given. Where most pages have some of the keywords, their scores hardly differ, and chance decides. What a
// page links to says more of its board or section, and the score does not use it. So a regression of link targets learns from the crawl's own pages: those with the highest scores
// against the lower half. From the second time on the scores are those of both views together, so that each corrects the other (co-training: Blum & Mitchell 1998).
//
// It orders the pages of a host, and does not compare hosts. Nearly all pages of a host link to its own menu. So the view would take hosts that were found first for the topic, and all others for
// none of it, which then confirms itself.
type secondView struct {
	fit    linear
	middle float64                  // between the mean scores of the two groups
	spread float64                  // of the scores within a group; 0: nothing was fitted
	weight float64                  // in what a page is worth, where the document score has 1
	shift  float64                  // by what the view changes the worth of a page, the mean
	hosts  map[uint32]groupOutcomes // the same of the pages of a host, as a sum, by HostOf
}

// The settings of the second view were chosen by measurement: docs/FOCUS.md, "Keywords alone: a second view".
const (
	secondTop    = 0.1  // part of the pages that stand for the topic
	secondRest   = 0.5  // part of them that stand for all else
	secondLeast  = 20   // pages from which on it is fitted
	secondFewest = 5    // pages that stand for the topic at least
	secondMost   = 4    // weight of the second view at most
	secondApart  = 4    // squared distance of the two groups, in spreads, at which it has half of that
	secondLow    = 0.25 // quantile of the scores; not the median, because a crawl that succeeds has relevant pages in its middle
	secondUsual  = 3    // power of the part of the best tenth's score that the lowest quarter reaches: where that is small, the document score distinguishes pages by itself
	secondSlope  = 2    // logits a spread
	secondKnown  = 10   // pages of a host, of those for comparison, by which it is known by half
)

// secondEstimator is the name of the second view among those of the estimators.
const secondEstimator = estimators - 1

// rating is what a page was taken for when it was learned.
type rating struct {
	Score float32 `cbor:"1,keyasint"` // the document score; below 0: of a state that kept none
	Worth float32 `cbor:"2,keyasint"`
	Host  uint32  `cbor:"3,keyasint,omitempty"` // by HostOf; 0: it is not known
}

// HostOf stands for the host of a canonical URL, with its port, in a Visit.
func HostOf(url string) uint32 { return fnv.Sum32(urls.AuthorityOf(url)) }

// of is how likely a page links to what pages of the topic link to, in (0,1).
func (s *secondView) of(targets text.HashedVector) float64 {
	return sigmoid(secondSlope * (s.fit.score(targets) - s.middle) / s.spread)
}

// change is what the view adds to the worth of a page if hosts are not looked at.
func (s *secondView) change(score float64, targets text.HashedVector) float64 {
	return s.weight * (s.of(targets) - score) / (1 + s.weight)
}

// worth puts both views together; score is what the page is worth by its document score. The mean of a host differs from that of another as by the score alone. A page of a host that is
// not known is worth what its score says.
func (s *secondView) worth(score float64, targets text.HashedVector, host uint32) float64 {
	if s.weight == 0 {
		return score
	}
	worth := score + s.shift
	if h := s.hosts[host]; h.N > 0 {
		worth += h.N / (h.N + secondKnown) * (s.change(score, targets) - h.Sum/h.N)
	}
	return min(max(worth, 0), 1)
}

// learn fits the second view to pages of the crawl and how they were rated.
func (s *secondView) learn(all []Views, ratings []rating) {
	*s = secondView{}
	var pages []Views
	var rated []rating
	var scores []float64
	for i, r := range ratings {
		if r.Score >= 0 {
			pages, rated, scores = append(pages, all[i]), append(rated, r), append(scores, float64(r.Score))
		}
	}
	n := len(pages)
	if n < secondLeast {
		return
	}
	slices.Sort(scores)
	best, usual := scores[min(int((1-secondTop)*float64(n)), n-1)], scores[int(secondLow*float64(n))]
	if usual <= 0 {
		return
	}
	s.weight = secondMost * s.fitTo(pages, rated) * math.Pow(usual/best, secondUsual)
	s.count(pages, rated, best)
}

// fitTo fits the regression to the best of the pages against the lower half. It returns how far it holds them apart, in [0,1).
func (s *secondView) fitTo(pages []Views, rated []rating) float64 {
	n := float64(len(pages))
	turn := make([]int, len(pages))
	for i := range turn {
		turn[i] = i
	}
	slices.SortStableFunc(turn, func(a, b int) int {
		return cmp.Compare(rated[b].Score+rated[b].Worth, rated[a].Score+rated[a].Worth)
	})
	top := max(int(secondTop*n), secondFewest)
	var mine, theirs []Views
	for _, at := range turn[:top] {
		mine = append(mine, pages[at])
	}
	for _, at := range turn[max(int(secondRest*n), top):] {
		theirs = append(theirs, pages[at])
	}
	m, t := s.fit.fit(mine, theirs, targets)
	mean, variance := meanOf(m)
	other, others := meanOf(t)
	s.middle, s.spread = (mean+other)/2, math.Sqrt((variance+others)/2)+1e-6
	apart := max(mean-other, 0) / s.spread
	return apart * apart / (apart*apart + secondApart)
}

// count counts by what the view changes the pages of each host; best is the score of a page that is worth 1.
func (s *secondView) count(pages []Views, rated []rating, best float64) {
	s.hosts = map[uint32]groupOutcomes{}
	for i := range pages {
		change := s.change(min(float64(rated[i].Score)/best, 1), pages[i][targets])
		h := s.hosts[rated[i].Host]
		s.hosts[rated[i].Host] = groupOutcomes{N: h.N + 1, Sum: h.Sum + change}
		s.shift += change / float64(len(pages))
	}
}

func meanOf(list []float64) (mean, variance float64) {
	n := float64(len(list))
	for _, z := range list {
		mean += z / n
	}
	for _, z := range list {
		variance += (z - mean) * (z - mean) / n
	}
	return mean, variance
}

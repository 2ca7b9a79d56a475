package order

import (
	"cmp"
	"slices"

	"github.com/muninn-archive/muninn/internal/text"
)

// Levels of the hidden Markov model: distances to a page of the topic, the last one for all that are farther.
const Levels = 4

// Trained is a page that the model learns from.
type Trained struct {
	Text  text.HashedVector
	Level int   // links to a page of the topic: 0 is one, Levels−1 is that far or farther
	Next  []int // pages of the training set that it links to
}

// HMMSettings are the settings of the model. The zero value is not valid: see DefaultHMM.
type HMMSettings struct {
	Seed       uint64
	Clusters   int  // of training pages that are not of the topic
	Neighbours int  // training pages that decide the cluster of a page
	Centroid   bool // half of the priority is the similarity of the page with the mean page of the topic
	Anchor     bool // … of page and anchor
}

// DefaultHMM are the settings of Batsakis et al. 2009, as far as the paper gives them.
func DefaultHMM() HMMSettings { return HMMSettings{Seed: 1, Clusters: 5, Neighbours: 5} }

// HMM is the learning crawler of Liu, Janssen & Milios (2006), and with the centroid that of Batsakis et al. (2009): how
// far a page is from the topic is not seen, but to which cluster it belongs is. From the clusters on the way to a page
// follows how likely its links lead to the topic.
type HMM struct {
	settings HMMSettings
	training []text.HashedVector // of length 1
	cluster  []int               // by training page; 0 has the pages of the topic
	begin    [Levels]float64
	next     [Levels][Levels]float64 // from a level to another
	seen     [Levels][]float64       // clusters by level
	centroid text.HashedVector
}

// unseen is added to each count: that something was not seen in training does not make it impossible.
const unseen = 0.01

// NewHMM trains the model. Pages of level 0 are relevant.
func NewHMM(pages []Trained, s HMMSettings) *HMM {
	h := &HMM{settings: s}
	for _, p := range pages {
		h.training = append(h.training, p.Text.Damped())
		if p.Level == 0 {
			h.centroid = h.centroid.Add(h.training[len(h.training)-1], 1)
		}
	}
	h.centroid = h.centroid.Unit()
	h.cluster = kMeans(h.training, pages, s)
	for level := range h.seen {
		h.seen[level] = make([]float64, s.Clusters+1)
		for c := range h.seen[level] {
			h.seen[level][c] = unseen
		}
		h.begin[level] = unseen
		for to := range h.next[level] {
			h.next[level][to] = unseen
		}
	}
	for i, p := range pages {
		h.begin[p.Level]++
		h.seen[p.Level][h.cluster[i]]++
		for _, to := range p.Next {
			h.next[p.Level][pages[to].Level]++
		}
	}
	normalize(h.begin[:])
	for level := range h.seen {
		normalize(h.seen[level])
		normalize(h.next[level][:])
	}
	return h
}

// normalize divides counts by their sum.
func normalize(counts []float64) {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	if sum > 0 {
		for i := range counts {
			counts[i] /= sum
		}
	}
}

// Clusters puts texts into k clusters at most, by their words; it returns their numbers, from 0.
func Clusters(texts []text.HashedVector, k int, seed uint64) []int {
	vectors, pages := make([]text.HashedVector, len(texts)), make([]Trained, len(texts))
	for i, t := range texts {
		vectors[i], pages[i].Level = t.Damped(), 1
	}
	numbers := kMeans(vectors, pages, HMMSettings{Seed: seed, Clusters: k})
	for i := range numbers {
		numbers[i]--
	}
	return numbers
}

// kMeans puts the pages of the topic into cluster 0, the others into clusters by their words.
func kMeans(texts []text.HashedVector, pages []Trained, s HMMSettings) []int {
	cluster := make([]int, len(texts))
	var others []int
	for i := range pages {
		if pages[i].Level > 0 {
			others = append(others, i)
		}
	}
	k := min(s.Clusters, len(others))
	if k == 0 {
		return cluster
	}
	r := random(s.Seed)
	means := make([]text.HashedVector, k)
	for i := range means { // of pages that differ, each in its turn the one that is least like those before
		best, least := others[r.below(len(others))], 2.0
		for _, o := range others {
			most := 0.0
			for _, m := range means[:i] {
				most = max(most, texts[o].Dot(m))
			}
			if i > 0 && most < least {
				best, least = o, most
			}
		}
		means[i] = texts[best]
	}
	for range 20 {
		moved := false
		for _, o := range others {
			at, most := 0, -1.0
			for i, m := range means {
				if x := texts[o].Dot(m); x > most {
					at, most = i, x
				}
			}
			moved = moved || cluster[o] != at+1
			cluster[o] = at + 1
		}
		if !moved {
			break
		}
		sums := make([]text.HashedVector, k)
		for _, o := range others {
			sums[cluster[o]-1] = sums[cluster[o]-1].Add(texts[o], 1)
		}
		for i, sum := range sums {
			if len(sum) > 0 {
				means[i] = sum.Unit()
			}
		}
	}
	return cluster
}

// clusterOf is that of the nearest training pages, weighed by how near they are; −1 of a page that has nothing in common
// with any.
func (h *HMM) clusterOf(of text.HashedVector) int {
	type neighbour struct {
		near    float64
		cluster int
	}
	all := make([]neighbour, len(h.training))
	for i, t := range h.training {
		all[i] = neighbour{of.Dot(t), h.cluster[i]}
	}
	slices.SortStableFunc(all, func(a, b neighbour) int { return cmp.Compare(b.near, a.near) })
	votes := make([]float64, h.settings.Clusters+1)
	best := 0
	for _, n := range all[:min(len(all), h.settings.Neighbours)] {
		if votes[n.cluster] += n.near; votes[n.cluster] > votes[best] {
			best = n.cluster
		}
	}
	if votes[best] <= 0 {
		return -1
	}
	return best
}

// step is Eq. 6: how likely each level is one link on.
func (h *HMM) step(from [Levels]float64) (to [Levels]float64) {
	for i, p := range from {
		for j := range to {
			to[j] += p * h.next[i][j]
		}
	}
	return to
}

// condition is Eq. 5: how likely each level is, now that the cluster was seen.
func (h *HMM) condition(levels [Levels]float64, cluster int) [Levels]float64 {
	for j := range levels {
		levels[j] *= h.seen[j][cluster]
	}
	normalize(levels[:])
	return levels
}

// secondLinkWeight is how much the chance of the topic two links on counts: it decides between links that are as good.
const secondLinkWeight = 1e-3

// Judge gives links the chance that they lead to the topic, by what was seen on the way to them. What is thought of the
// levels of their page is kept with them.
func (h *HMM) Judge(p *Page, linkFeatures []byte) Judgement {
	levels := h.begin
	if before, ok := readFloats(linkFeatures, Levels); ok {
		levels = h.step([Levels]float64(before))
	}
	damped := p.Text.Damped()
	if cluster := h.clusterOf(damped); cluster >= 0 {
		levels = h.condition(levels, cluster)
	}
	ahead := h.step(levels)
	chance := ahead[0] + secondLinkWeight*h.step(ahead)[0]
	near := 0.0
	if h.settings.Centroid {
		near = max(damped.Dot(h.centroid), 0)
	}
	j := judgeLinks(p, func(i int) float64 {
		switch {
		case !h.settings.Centroid:
			return chance
		case h.settings.Anchor:
			return (chance + (near+text.Cosine(h.centroid, p.Links[i].Anchor))/2) / 2
		}
		return (chance + near) / 2
	})
	keep := writeFloats(levels[:]...)
	for i := range j.Links {
		j.Links[i].LinkFeatures = keep
	}
	return j
}

package topic

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// Path is a page of the reference crawl that orders are trained with.
type Path struct {
	Terms []text.Term `json:"terms"`
	Level int         `json:"level"`          // number of links to the next relevant page; 0: it is relevant
	Next  []int       `json:"next,omitempty"` // the pages that it links to, as indices of the list of paths
}

// maxPaths bounds the pages of a level that orders are trained with.
const maxPaths = 60

// Paths lists what orders are trained with: the pages of the definition's example paths that the reference crawl has fetched. If
// there are none, the relevant pages of the reference crawl, and the pages that lead to them. links has the links between its
// pages, by the URL of the page that they are on.
func Paths(topic crawl.Topic, samples []Sample, links map[string][]string) []Path {
	if list := examplePaths(topic, samples); len(list) > 0 {
		return list
	}
	return foundPaths(samples, links, topic.Threshold)
}

// examplePaths are the pages on the paths of a definition. A page on several paths gets the lowest of its levels.
func examplePaths(topic crawl.Topic, samples []Sample) (list []Path) {
	terms, at := map[string][]text.Term{}, map[string]int{}
	var of [order.Levels]int // pages by level
	for _, s := range samples {
		terms[s.URL] = s.Terms
	}
	for _, path := range topic.Paths {
		next := -1
		for level := range path { // from its end
			url := canonical(path[len(path)-1-level])
			i, known := at[url]
			switch {
			case known:
				list[i].Level = min(list[i].Level, level)
			case terms[url] == nil || of[min(level, order.Levels-1)] == maxPaths: // it was not fetched, or has no terms
				continue
			default:
				i = len(list)
				at[url] = i
				list = append(list, Path{Terms: terms[url], Level: min(level, order.Levels-1)})
				of[list[i].Level]++
			}
			if next >= 0 && !slices.Contains(list[i].Next, next) {
				list[i].Next = append(list[i].Next, next)
			}
			next = i
		}
	}
	if !slices.ContainsFunc(list, func(p Path) bool { return p.Level == 0 }) {
		return nil // no path has an end
	}
	return list
}

func foundPaths(samples []Sample, links map[string][]string, threshold float64) []Path {
	var list []Path
	at, number := map[string]int{}, map[string]*Sample{}
	citing := map[string][]string{}
	for i := range samples {
		number[samples[i].URL] = &samples[i]
	}
	for i := range samples { // in the order of the samples, so that the same samples give the same paths
		for _, to := range links[samples[i].URL] {
			citing[to] = append(citing[to], samples[i].URL)
		}
	}
	add := func(url string, level, n int) bool {
		s := number[url]
		if _, known := at[url]; known || s == nil || n >= maxPaths {
			return false
		}
		at[url] = len(list)
		list = append(list, Path{Terms: s.Terms, Level: level})
		return true
	}
	var last []string
	for _, s := range samples {
		if (s.Example || s.Score >= threshold) && add(s.URL, 0, len(last)) {
			last = append(last, s.URL)
		}
	}
	for level := 1; level < order.Levels; level++ {
		var found []string
		for _, url := range last {
			for _, from := range citing[url] {
				if add(from, level, len(found)) {
					found = append(found, from)
				}
			}
		}
		last = found
	}
	for url, i := range at {
		for _, to := range links[url] {
			if j, known := at[to]; known {
				list[i].Next = append(list[i].Next, j)
			}
		}
	}
	return list
}

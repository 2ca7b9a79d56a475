package score

import (
	"math"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// entitiesAnalyser scores a page by how many of the topic's entities it names. A link whose anchor names one of them scores 1;
// other links take over the score of their page.
func entitiesAnalyser(s *Scorer) analyser {
	g := newGazetteer(s.topic.Entities)
	if g == nil {
		return analyser{}
	}
	return analyser{
		name: crawl.PartEntities,
		document: func(r *reading) float64 {
			if len(r.page.Blocks) == 0 && r.page.Title == "" {
				return silent
			}
			found := map[int]float64{}
			g.find(r.page.Title, found)
			for i, b := range r.page.Blocks {
				if r.page.Content == nil || r.page.Content[i] {
					g.find(b, found)
				}
			}
			return math.Round(g.scoreOf(found, len(s.topic.Entities))*1e9) / 1e9
		},
		link: func(r *reading, l *crawl.Outlink) float64 {
			if !anchored(l) || l.Anchor == "" {
				return silent
			}
			found := map[int]float64{}
			if g.find(l.Anchor, found); len(found) == 0 {
				return silent
			}
			return g.scoreOf(found, 1)
		},
	}
}

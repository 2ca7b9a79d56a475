package score

import (
	"math"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// halfLife is the age at which the freshness of a page is one half.
const halfLife = 365 * 24 * time.Hour

// freshnessAnalyser scores a page by the age of its youngest web object, from the dates that the helper found. It is used only
// if the definition gives it a weight, because an old page is no worse for most archives.
func freshnessAnalyser(s *Scorer) analyser {
	if s.weights[crawl.PartFreshness] == 0 {
		return analyser{}
	}
	return analyser{name: crawl.PartFreshness, document: func(r *reading) float64 {
		var last time.Time
		for i := range r.page.Objects {
			for _, p := range r.page.Objects[i].Properties {
				if p.Name != "published" && p.Name != "modified" {
					continue
				}
				for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04", time.DateOnly} {
					if t, err := time.Parse(layout, p.Value); err == nil && t.After(last) {
						last = t
						break
					}
				}
			}
		}
		if last.IsZero() || r.context.Now.IsZero() {
			return silent
		}
		age := max(r.context.Now.Sub(last), 0)
		return math.Exp2(-float64(age) / float64(halfLife))
	}}
}

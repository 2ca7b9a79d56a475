package score

import (
	"net/url"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// patterns is the score of the best pattern of the definition that a URL matches.
func patterns(s *Scorer) analyser {
	if len(s.patterns) == 0 {
		return analyser{}
	}
	return analyser{name: "url", link: func(_ *reading, l *crawl.Outlink) float64 {
		u, err := urls.Trusted(l.URL)
		if err != nil {
			return silent
		}
		best := float64(silent)
		for _, p := range s.patterns {
			if p.Match(u) {
				best = max(best, p.score)
			}
		}
		return best
	}}
}

// tokens speaks of URLs whose path has words of the topic: the cosine of its words with the topic's. It is silent of
// others, for most URLs tell nothing.
func tokens(*Scorer) analyser {
	return analyser{name: "tokens", link: func(r *reading, l *crawl.Outlink) float64 {
		_, rest, _ := strings.Cut(l.URL, "://")
		_, path, _ := strings.Cut(rest, "/")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
		if near := r.text(strings.ReplaceAll(path, "_", " ")); near > 0 {
			return near
		}
		return silent
	}}
}

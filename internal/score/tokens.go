package score

import (
	"net/url"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// tokensAnalyser scores a link by the cosine of the words in the path of its URL with the topic. It is silent about paths without
// words of the topic, because most URLs say nothing about a topic.
func tokensAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartTokens, link: func(r *reading, l *crawl.Outlink) float64 {
		_, rest, _ := strings.Cut(l.URL, "://")
		_, path, _ := strings.Cut(rest, "/")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
		if near := r.similarityOf(strings.ReplaceAll(path, "_", " ")); near > 0 {
			return near
		}
		return silent
	}}
}

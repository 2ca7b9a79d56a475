package score

import "github.com/muninn-archive/muninn/internal/crawl"

// document is the cosine of the terms of the page with the topic's.
func document(*Scorer) analyser {
	return analyser{name: "document", document: func(r *reading) float64 { return r.near }}
}

// paragraph is that of the block of text that a link stands in.
func paragraph(*Scorer) analyser {
	return analyser{name: "paragraph", link: func(r *reading, l *crawl.Outlink) float64 {
		if !anchored(l) || l.Block < 0 || l.Block >= len(r.blocks) {
			return silent
		}
		return r.blocks[l.Block]
	}}
}

// anchor is that of the anchor.
func anchor(*Scorer) analyser {
	return analyser{name: "anchor", link: func(r *reading, l *crawl.Outlink) float64 {
		if !anchored(l) {
			return silent
		}
		return r.text(l.Anchor)
	}}
}

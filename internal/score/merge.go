package score

import "github.com/muninn-archive/muninn/internal/crawl"

// Merge is batch prioritisation (paper §5.1): the term vectors of all pages of a batch that cite a
// URL are summed before it is scored.
type Merge struct {
	scorer *Scorer
	cited  map[string]*citation
}

type citation struct {
	sum   Vector
	lang  string
	links []*crawl.Outlink
}

// NewMerge begins a batch.
func NewMerge(s *Scorer) *Merge { return &Merge{scorer: s, cited: map[string]*citation{}} }

// Add takes a scored page; its links are changed by Apply.
func (m *Merge) Add(p *crawl.Page, v Vector) {
	for i := range p.Links {
		l := &p.Links[i]
		c := m.cited[l.URL]
		if c == nil {
			c = &citation{sum: Vector{}, lang: p.Language}
			m.cited[l.URL] = c
		}
		c.sum.add(v, 1)
		c.links = append(c.links, l)
	}
}

// Apply scores the links that several pages cite.
func (m *Merge) Apply() {
	for _, c := range m.cited {
		topic := m.scorer.vector(c.lang)
		if len(c.links) < 2 || topic.norm == 0 {
			continue
		}
		document := topic.cosine(c.sum)
		for _, l := range c.links {
			if l.Parts.Document != silent {
				l.Parts.Document = document
				l.Score = m.scorer.average(l.Parts, l.Score)
			}
		}
	}
}

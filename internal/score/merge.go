package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

// Merge is batch prioritisation (paper §5.1): the term vectors of all pages of a batch that cite a
// URL are summed before it is scored.
type Merge struct {
	scorer *Scorer
	cited  map[string]*citation
}

type citation struct {
	sum   text.Vector
	lang  string
	links []*crawl.Outlink
}

// NewMerge begins a batch.
func NewMerge(s *Scorer) *Merge { return &Merge{scorer: s, cited: map[string]*citation{}} }

// Add takes a scored page; its links are changed by Apply.
func (m *Merge) Add(p *crawl.Page, v text.Vector) {
	for i := range p.Links {
		l := &p.Links[i]
		c := m.cited[l.URL]
		if c == nil {
			c = &citation{sum: text.Vector{}, lang: p.Language}
			m.cited[l.URL] = c
		}
		c.sum.Add(v, 1)
		c.links = append(c.links, l)
	}
}

// Apply scores the links that several pages cite.
func (m *Merge) Apply() {
	for _, c := range m.cited {
		if len(c.links) < 2 {
			continue
		}
		near := m.scorer.near(c.sum, c.lang)
		if near == silent {
			continue
		}
		for _, l := range c.links {
			for i := range l.Parts {
				if l.Parts[i].Name == "document" {
					l.Parts[i].Score = near
					l.Score = m.scorer.average(l.Parts, l.Score)
				}
			}
		}
	}
}

// near is the cosine of a vector of term frequencies with the topic; silent if there is no topic.
func (s *Scorer) near(v text.Vector, lang string) float64 {
	x, w, topic := s.now(lang)
	if topic.norm == 0 {
		return silent
	}
	t := text.NewTally(x)
	defer t.Free()
	t.AddVector(v)
	return topic.near(t, w)
}

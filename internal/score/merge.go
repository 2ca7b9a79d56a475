package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// scoreMerge does what order.Merge does, for crawls whose links are ordered by their scores: it sums the term vectors of all pages
// of a batch that cite a URL, and gives the similarity of the sum to the part "document" of these links (paper §5.1).
type scoreMerge struct {
	scorer *Scorer
	cited  order.Cited[scoredLink]
}

type scoredLink struct {
	verdict  *crawl.LinkVerdict
	terms    text.Vector // of its page
	language string      // of its page
}

// add notes a page with the verdicts of its links, which apply changes.
func (m *scoreMerge) add(p *crawl.Page, verdicts []crawl.LinkVerdict, terms text.Vector) {
	for i := range p.Links {
		if p.Links[i].Hop == crawl.HopSpeculative {
			continue
		}
		m.cited.Add(p.Links[i].URL, scoredLink{&verdicts[i], terms, p.Language})
	}
}

// apply scores again the links that several pages cite.
func (m *scoreMerge) apply() {
	for links := range m.cited.Shared() {
		sum := text.Vector{}
		for _, l := range links {
			sum.Add(l.terms, 1)
		}
		similarity := m.scorer.similarity(sum, links[0].language)
		if similarity == silent {
			continue
		}
		for _, l := range links {
			v := l.verdict
			for i := range v.Parts {
				if v.Parts[i].Name == crawl.PartDocument {
					v.Parts[i].Score = similarity
					v.Score = m.scorer.average(v.Parts, v.Score)
				}
			}
		}
	}
}

// similarity is the cosine of a vector of term frequencies with the topic; silent if there is no topic.
func (s *Scorer) similarity(v text.Vector, lang string) float64 {
	x, w, topic := s.current(lang)
	if topic.norm == 0 {
		return silent
	}
	t := text.NewTally(x)
	defer t.Free()
	t.AddVector(v)
	return topic.similarity(t, w)
}

package order

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/bandit"
)

// Places is the tag-path bandit of the helper as an order: the links of a host are grouped by the places that they stand
// at in its pages, and those places are visited that led to pages of the topic, or that little is known of.
type Places struct {
	topic Terms
	sites map[string]*bandit.Site
}

// NewPlaces makes the order for a topic.
func NewPlaces(topic Terms) *Places {
	return &Places{slices.Clone(topic).unit(), map[string]*bandit.Site{}}
}

func (b *Places) site(url string) *bandit.Site {
	host := hostOf(url)
	s := b.sites[host]
	if s == nil {
		s = &bandit.Site{}
		b.sites[host] = s
	}
	return s
}

// Fetched gives links the worth of their places.
func (b *Places) Fetched(p *Page) []float64 {
	out := make([]float64, len(p.Links))
	for i := range p.Links {
		out[i] = b.Priority(p.URL, &p.Links[i])
	}
	return out
}

// Outcome rewards the place of a link by what its page has in common with the topic.
func (b *Places) Outcome(from string, l *Link, p *Page) {
	s := b.site(from)
	s.Reward(s.Assign(l.TagPath), Cosine(b.topic, p.Text))
}

// Priority is the present worth of a link's place.
func (b *Places) Priority(from string, l *Link) float64 {
	s := b.site(from)
	return s.Value(s.Assign(l.TagPath))
}

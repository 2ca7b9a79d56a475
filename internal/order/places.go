package order

import (
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/bandit"
	"github.com/muninn-archive/muninn/internal/text"
)

// Places is the tag-path bandit of the helper as an order: the links of a host are grouped by the places that they stand
// at in its pages, and those places are visited that led to pages of the topic, or that little is known of.
type Places struct {
	topic text.HashedVector
	mu    sync.RWMutex
	sites map[string]*bandit.Site
}

// NewPlaces makes the order for a topic.
func NewPlaces(topic text.HashedVector) *Places {
	return &Places{topic: slices.Clone(topic).Unit(), sites: map[string]*bandit.Site{}}
}

// Judge gives links the worth of their places, and a page what it has in common with the topic.
func (b *Places) Judge(p *Page, _ []byte) Judgement {
	out := make([]Judged, len(p.Links))
	for i := range out {
		keep := []byte(hostOf(p.URL) + " " + p.Links[i].TagPath)
		out[i] = Judged{b.Priority(keep), keep}
	}
	return Judgement{Links: out, Worth: text.Cosine(b.topic, p.Text)}
}

// Learn rewards the places of the links that led to a page.
func (b *Places) Learn(v Visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kept := range v.Kept {
		host, tagPath, _ := strings.Cut(string(kept), " ")
		s := b.sites[host]
		if s == nil {
			s = &bandit.Site{}
			b.sites[host] = s
		}
		s.Reward(s.Assign(tagPath), v.Worth)
	}
}

// Priority is the present worth of a link's place.
func (b *Places) Priority(kept []byte) float64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	host, tagPath, _ := strings.Cut(string(kept), " ")
	s := b.sites[host]
	if s == nil {
		s = &unknown
	}
	if group := s.Find(tagPath); group > 0 || tagPath == "" {
		return s.Value(group)
	}
	return s.Unseen()
}

// unknown is a site that nothing was learned of.
var unknown bandit.Site

// Expect is the same.
func (b *Places) Expect(kept []byte) float64 { return b.Priority(kept) }

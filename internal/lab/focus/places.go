package focus

import (
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/bandit"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// learner is an order that learns from fetched pages: the priorities of waiting links change.
type learner interface {
	order.Order
	// Learn learns from a visited page. The same visits in the same order have the same effect.
	Learn(v order.Visit)
	// Priority is the present priority of a link, from what was stored with it.
	Priority(kept []byte) float64
	// Expect is the expected relevance of a link's target, in [0,1]: the sum over the unvisited links of a page is its
	// promise.
	Expect(kept []byte) float64
}

// batched is an order that fetches several pages before it looks at any of them.
type batched interface {
	order.Order
	Size() int
}

// batch makes an order fetch the N best pages together (N-best-first, Menczer et al. 2004), which makes it less greedy.
type batch struct {
	order.Order
	N int
}

// Size is how many pages are fetched before their links are looked at.
func (b batch) Size() int { return b.N }

// places is the tag-path bandit of the helper as an order for the simulation, which has no frontier. In a crawl the frontier stores
// what is known about a host's places with its queues; both use internal/bandit. The links of a host are grouped by their tag paths.
// Places are visited that have led to relevant pages, or about which little is known.
type places struct {
	topic text.HashedVector
	mu    sync.RWMutex
	sites map[string]*bandit.Site
}

// newPlaces makes the order for a topic.
func newPlaces(topic text.HashedVector) *places {
	return &places{topic: slices.Clone(topic).Unit(), sites: map[string]*bandit.Site{}}
}

// Judge gives links the worth of their places, and a page its similarity with the topic.
func (b *places) Judge(p *order.Page, _ []byte) order.Judgement {
	out := make([]order.Judged, len(p.Links))
	for i := range out {
		keep := []byte(urls.HostOf(p.URL) + " " + p.Links[i].TagPath)
		out[i] = order.Judged{Priority: b.Priority(keep), LinkFeatures: keep}
	}
	return order.Judgement{Links: out, Worth: text.Cosine(b.topic, p.Text)}
}

// Learn rewards the places of the links that led to a page.
func (b *places) Learn(v order.Visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kept := range v.LinkFeatures {
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
func (b *places) Priority(kept []byte) float64 {
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

// unknown is a site about which nothing was learned.
var unknown bandit.Site

// Expect is the same as Priority.
func (b *places) Expect(kept []byte) float64 { return b.Priority(kept) }

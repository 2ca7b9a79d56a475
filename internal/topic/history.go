package topic

import (
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/urls"
)

// SiteHistory remembers the scores of the pages of hosts and folders. It is safe for concurrent use.
type SiteHistory struct {
	mu    sync.Mutex
	sites cache.Generations[string, scoreSum]
}

type scoreSum struct {
	_     struct{} `cbor:",toarray"`
	Pages float64
	Sum   float64 // of their scores
}

// maxSites bounds the hosts and folders of a generation; the most recently used are kept.
const maxSites = 50_000

// leastSitePages is the number of pages from which a host or folder has a score.
const leastSitePages = 3

// NewSiteHistory makes an empty history.
func NewSiteHistory() *SiteHistory {
	return &SiteHistory{sites: cache.NewGenerations[string, scoreSum](maxSites)}
}

// Add counts a page, by its canonical URL, with its document score in [0,1].
func (p *SiteHistory) Add(url string, score float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range sitesOf(url) {
		w := p.sites.Get(key)
		p.sites.Put(key, scoreSum{Pages: w.Pages + 1, Sum: w.Sum + score})
	}
	p.sites.Age()
}

// Score is the mean score of the pages in a URL's folder, or of its host if the folder has fewer than leastSitePages; false if the
// host has too few as well.
func (p *SiteHistory) Score(url string) (mean float64, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range sitesOf(url) {
		if w := p.sites.Get(key); w.Pages >= leastSitePages {
			return w.Sum / w.Pages, true
		}
	}
	return 0, false
}

// generations is what restore takes.
func (p *SiteHistory) generations() (young, old map[string]scoreSum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sites.Clone()
}

// restore replaces what is remembered.
func (p *SiteHistory) restore(young, old map[string]scoreSum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sites.Restore(young, old)
}

// sitesOf are a canonical URL's folder and its host, with the port.
func sitesOf(url string) [2]string {
	page, _, _ := strings.Cut(url, "?")
	_, path, _ := strings.Cut(page, "://")
	return [2]string{path[:strings.LastIndexByte(path, '/')+1], urls.AuthorityOf(url)}
}

package score

import (
	"maps"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Past remembers what the pages of hosts and folders were worth.
type Past struct {
	mu         sync.Mutex
	young, old map[string]worth
}

type worth struct {
	_     struct{} `cbor:",toarray"`
	Pages float64
	Sum   float64 // of their scores
}

// maxPast bounds the hosts and folders that are remembered: those that were heard of last.
const maxPast = 50_000

// leastPast is the number of pages from which a host or folder speaks.
const leastPast = 3

// NewPast makes one that remembers nothing.
func NewPast() *Past { return &Past{young: map[string]worth{}, old: map[string]worth{}} }

func (p *Past) of(key string) worth {
	if w, known := p.young[key]; known {
		return w
	}
	return p.old[key]
}

// Add takes in a page with its document score.
func (p *Past) Add(url string, score float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range places(url) {
		w := p.of(key)
		p.young[key] = worth{Pages: w.Pages + 1, Sum: w.Sum + score}
	}
	if len(p.young) >= maxPast {
		p.young, p.old = map[string]worth{}, p.young
	}
}

// Score is the mean score of the pages in a URL's folder, or of its host if there are too few; silent if those are too few
// as well.
func (p *Past) Score(url string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range places(url) {
		if w := p.of(key); w.Pages >= leastPast {
			return w.Sum / w.Pages
		}
	}
	return silent
}

// generations are what is remembered, for restore.
func (p *Past) generations() (young, old map[string]worth) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.young), maps.Clone(p.old)
}

// restore puts other generations in place of its own.
func (p *Past) restore(young, old map[string]worth) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.young, p.old = map[string]worth{}, map[string]worth{}
	maps.Copy(p.young, young)
	maps.Copy(p.old, old)
}

// places are a URL's folder and its host.
func places(url string) [2]string {
	scheme := strings.Index(url, "://")
	if scheme < 0 {
		return [2]string{url, ""}
	}
	rest := url[scheme+3:]
	rest, _, _ = strings.Cut(rest, "?")
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(rest, '/'); at >= 0 {
		return [2]string{rest[:at+1], host}
	}
	return [2]string{host + "/", host}
}

// history is what the pages of a link's folder or host were worth.
func history(s *Scorer) analyser {
	if s.past == nil {
		return analyser{}
	}
	return analyser{name: "history", link: func(_ *reading, l *crawl.Outlink) float64 { return s.past.Score(l.URL) }}
}

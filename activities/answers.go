package activities

import (
	"sync"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/cache"
)

// answers are what pages that are open were answered with: what pages share is asked for once. The least recently used are forgotten beyond maxAnswers. The zero answers are
// ready.
type answers struct {
	mu      sync.Mutex
	entries *cache.LRU[answerKey, browser.Response]
	bytes   int
}

type answerKey struct {
	archive string
	run     uint32
	url     string
}

// maxAnswerEntries bounds how many answers there are; bytes are bounded, too.
const maxAnswerEntries = 10_000

func (a *answers) get(key answerKey) (browser.Response, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil {
		return browser.Response{}, false
	}
	return a.entries.Get(key)
}

func (a *answers) put(key answerKey, r browser.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil {
		a.entries = cache.NewLRU(maxAnswerEntries, func(_ answerKey, r browser.Response) { a.bytes -= len(r.Body) })
	}
	a.entries.Remove(key)
	a.entries.Put(key, r)
	for a.bytes += len(r.Body); a.bytes > maxAnswers && a.entries.Len() > 1; {
		a.entries.RemoveOldest()
	}
}

func (a *answers) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries, a.bytes = nil, 0
}

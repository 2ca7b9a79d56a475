package activities

import (
	"maps"
	"strings"
	"sync"
	"time"
)

// Behind knows which batches wait until other workers have taken the links that they found.
type Behind struct {
	mu      sync.Mutex
	batches map[string]waits // by crawl/batch
}

// waits is since when a batch waits, and when it last looked: one whose workflow is gone looks no more.
type waits struct{ since, seen time.Time }

func (b *Behind) note(in BatchInput, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := in.Crawl + "/" + in.Batch
	w, known := b.batches[key]
	if !known {
		w.since = at
	}
	if w.seen = at; b.batches == nil {
		b.batches = map[string]waits{}
	}
	b.batches[key] = w
}

// silent reports whether a batch has not looked for so long, or not in this process.
func (b *Behind) silent(in BatchInput, now time.Time, within time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, known := b.batches[in.Crawl+"/"+in.Batch]
	return !known || now.Sub(w.seen) > within
}

func (b *Behind) end(in BatchInput) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.batches, in.Crawl+"/"+in.Batch)
}

// forget has all batches of a crawl be silent.
func (b *Behind) forget(crawl string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.batches, func(key string, _ waits) bool { return strings.HasPrefix(key, crawl+"/") })
}

// Oldest is for how long the batch of a crawl waits that waits for the longest time; 0 if none does.
func (b *Behind) Oldest(crawl string, now time.Time) (oldest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, w := range b.batches {
		switch {
		case now.Sub(w.seen) > staleFault:
			delete(b.batches, key)
		case strings.HasPrefix(key, crawl+"/"):
			oldest = max(oldest, now.Sub(w.since))
		}
	}
	return oldest
}

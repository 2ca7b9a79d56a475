package learning

import "sync"

// Backlog is how many objects of other workers' streams are not taken yet, by crawl, as of the last listing: what a failure keeps this worker from. It is for
// several goroutines.
type Backlog struct {
	mu      sync.Mutex
	objects map[string]int
}

// Of is the number of a crawl; 0 if nothing is known, and of a crawl that is not spread.
func (b *Backlog) Of(crawl string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.objects[crawl]
}

func (b *Backlog) set(crawl string, objects int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects == nil {
		b.objects = map[string]int{}
	}
	if b.objects[crawl] = objects; objects == 0 {
		delete(b.objects, crawl)
	}
}

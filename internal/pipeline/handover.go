package pipeline

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"sync"
	"time"
)

// handed is what a step of a batch hands on to the next: the pages in the state that they are in, or what is left of them.
type handed struct {
	run    string // see Source
	parsed *ParsedBatch
	judged *JudgedBatch
	result *Result
	file   fs.FileInfo // that has the result
}

// bytes is what the pages take in memory.
func (b *handed) bytes() (n int64) {
	if b.parsed != nil {
		for i := range b.parsed.Pages {
			n += int64(b.parsed.Pages[i].Bytes())
		}
	}
	if b.judged != nil {
		for i := range b.judged.Pages {
			n += int64(b.judged.Pages[i].Bytes())
		}
	}
	if b.result != nil {
		n += b.result.bytes()
	}
	return n
}

// DefaultHandedBytes bounds what lies between AAH and ARCHIVE if the settings do not.
const DefaultHandedBytes = 256 << 20

// handedWait is how long a batch waits for room, before the oldest of its crawl has to be made again.
const handedWait = 10 * time.Second

// Handover holds what batches hand from step to step. Further batches wait when half of the room is taken, but for those of a
// crawl that has none of it: a small crawl does not wait for a large one. What exceeds the room is forgotten, the
// oldest of the crawl that has most first, and made again; the batch that came last stays, however large it is.
type Handover struct {
	mu      sync.Mutex
	limit   int64 // 0: DefaultHandedBytes
	total   int64
	crawls  map[string]int64 // bytes by crawl
	batches map[string]*kept
	order   []string      // of batches, the oldest first
	changed chan struct{} // closed and made again when something goes
}

// kept is a batch in the hand-over.
type kept struct {
	*handed
	crawl string
	size  int64
}

// Bound bounds the bytes; 0 for the default.
func (h *Handover) Bound(limit int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limit = limit
}

// Room waits until another batch of a crawl may come in.
func (h *Handover) Room(ctx context.Context, crawl string) {
	ctx, cancel := context.WithTimeout(ctx, handedWait)
	defer cancel()
	for {
		h.mu.Lock()
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		full, changed := h.total >= h.most()/2 && h.crawls[crawl] > 0, h.changed
		h.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			h.mu.Lock()
			h.forget(crawl) // it may wait for nothing: its workflow is gone
			h.mu.Unlock()
			return
		}
	}
}

func (h *Handover) most() int64 { return cmp.Or(h.limit, DefaultHandedBytes) }

// put keeps what a batch hands on, or counts it again.
func (h *Handover) put(crawl, key string, b *handed) {
	size := b.bytes()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.batches == nil {
		h.batches, h.crawls = map[string]*kept{}, map[string]int64{}
	}
	h.remove(key)
	h.batches[key] = &kept{b, crawl, size}
	h.order = append(h.order, key)
	h.total += size
	h.crawls[crawl] += size
	for h.total > h.most() && len(h.order) > 1 { // the last one stays: its next step is about to come
		largest := h.batches[h.order[0]].crawl
		for other, n := range h.crawls {
			if n > h.crawls[largest] {
				largest = other
			}
		}
		if !h.forget(largest) {
			h.remove(h.order[0])
		}
	}
}

// forget takes out the oldest batch of a crawl, but not the one that came last of all.
func (h *Handover) forget(crawl string) bool {
	for _, key := range h.order[:max(len(h.order)-1, 0)] {
		if h.batches[key].crawl == crawl {
			h.remove(key)
			return true
		}
	}
	return false
}

func (h *Handover) remove(key string) *kept {
	b, known := h.batches[key]
	if !known {
		return nil
	}
	delete(h.batches, key)
	h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
	h.total -= b.size
	if h.crawls[b.crawl] -= b.size; h.crawls[b.crawl] <= 0 {
		delete(h.crawls, b.crawl)
	}
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return b
}

// get returns what a batch has handed on, nil if nothing. One step of a batch runs at a time.
func (h *Handover) get(key string) *handed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.batches[key]; b != nil {
		return b.handed
	}
	return nil
}

// of returns the pages that the present run of a batch's workflow has handed on, nil if there are none: an attempt continues what
// the one before it has left.
func (h *Handover) of(s Source) *handed {
	if b := h.get(s.key()); b != nil && b.run == s.Run && b.result == nil {
		return b
	}
	return nil
}

// take returns what a batch has handed on, and forgets it.
func (h *Handover) take(key string) *handed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.remove(key); b != nil {
		return b.handed
	}
	return nil
}

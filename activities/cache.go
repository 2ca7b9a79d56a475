package activities

import (
	"context"
	"runtime"
	"sync"
)

// cachedBatches is how many batches' parsed pages are kept in memory for the steps that follow; the
// spool has them too.
const cachedBatches = 8

// pageCache hands the pages of a batch from step to step without reading them from the spool again.
type pageCache struct {
	mu    sync.Mutex
	pages map[string][]parsedPage
	order []string
}

func (c *pageCache) put(key string, pages []parsedPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = map[string][]parsedPage{}
	}
	if _, known := c.pages[key]; !known {
		c.order = append(c.order, key)
	}
	c.pages[key] = pages
	if len(c.order) > cachedBatches {
		delete(c.pages, c.order[0])
		c.order = c.order[1:]
	}
}

// get returns the pages of a batch, which the caller may change; false if they are not here.
func (c *pageCache) get(key string) ([]parsedPage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pages, ok := c.pages[key]
	return pages, ok
}

func (c *pageCache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pages, key)
}

// workshop bounds how many batches are parsed, scored and archived at a time: more than there are
// processors gain nothing, and each holds its pages in memory.
type workshop struct {
	once  sync.Once
	seats chan struct{}
}

// enter takes a seat; leave gives it back.
func (w *workshop) enter(ctx context.Context) (leave func(), err error) {
	w.once.Do(func() { w.seats = make(chan struct{}, runtime.GOMAXPROCS(0)+1) })
	select {
	case w.seats <- struct{}{}:
		return func() { <-w.seats }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

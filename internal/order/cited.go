package order

import "iter"

// Cited collects the links of a batch of pages by the URL that they lead to.
type Cited[T any] struct {
	links map[string][]T
	urls  []string // in the order that they were met, so that a batch is always merged alike
}

// Add takes a link to a URL.
func (c *Cited[T]) Add(url string, link T) {
	if c.links == nil {
		c.links = map[string][]T{}
	}
	if c.links[url] == nil {
		c.urls = append(c.urls, url)
	}
	c.links[url] = append(c.links[url], link)
}

// Shared are the links of each URL that more than one leads to.
func (c *Cited[T]) Shared() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for _, url := range c.urls {
			if list := c.links[url]; len(list) > 1 && !yield(list) {
				return
			}
		}
	}
}

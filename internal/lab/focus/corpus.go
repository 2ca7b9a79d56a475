// Package focus measures orders of crawling on recorded webs: how soon a crawl finds the pages of a topic.
package focus

import (
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/recorded"
)

// Corpus is a recorded web.
type Corpus struct {
	Name   string
	Pages  []Page
	Seeds  []int    // where its recorders began
	Topics []string // labels that crawls may look for
	index  map[string]int
	web    *recorded.Web
	cited  [][]int
}

// Page is a page of it.
type Page struct {
	order.Page
	Label string // what it is, by those who recorded it; "" if nobody said
	Group string // of pages that belong together, such as a university
	To    []int  // where its links lead: numbers of pages, −1 outside of the corpus
}

// At returns the number of the page with a URL.
func (c *Corpus) At(url string) (int, bool) {
	at, found := c.index[url]
	return at, found
}

// Reachable reports which pages can be reached from seeds.
func (c *Corpus) Reachable(seeds []int) (reached []bool, count int) {
	reached = make([]bool, len(c.Pages))
	var queue []int
	for _, s := range seeds {
		if !reached[s] {
			reached[s], queue = true, append(queue, s)
		}
	}
	for ; count < len(queue); count++ {
		for _, to := range c.Pages[queue[count]].To {
			if to >= 0 && !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached, count
}

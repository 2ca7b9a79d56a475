package activities

import (
	"strings"
	"sync"
)

// InFlight counts the URLs that are fetched, but whose batches are not committed yet.
type InFlight struct{ batches sync.Map } // "crawl/batch" → func() int64

func (u *InFlight) begin(in BatchInput, count func() int64) {
	u.batches.Store(in.Crawl+"/"+in.Batch, count)
}

func (u *InFlight) end(in BatchInput) { u.batches.Delete(in.Crawl + "/" + in.Batch) }

// Of is the number of a crawl's URLs.
func (u *InFlight) Of(crawl string) (n int64) {
	u.batches.Range(func(key, value any) bool {
		if name, _ := key.(string); strings.HasPrefix(name, crawl+"/") {
			n += value.(func() int64)()
		}
		return true
	})
	return n
}

package frontier

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// recrawlPart is how many URLs a recrawl offers at a time.
const recrawlPart = 5000

// Recrawl offers all URLs that earlier runs have crawled, with the scores they had, but for those whose interval is not over. It is idempotent
// by id.
func (h URLs) Recrawl(id string) error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return err
	}
	rec := s.crawlRecord
	h.f.mu.Unlock()
	update, run := rec.Definition.Order.Update, rec.Run
	var part []crawl.Discovery
	notDue := int64(0)
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		found := part
		part = nil
		// The part is named by where it begins: a second try leaves out what the first has offered.
		return h.Offer(fmt.Sprintf("%s/%x", id, xxhash.Sum64String(found[0].URL)), found)
	}
	err = h.f.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.All(store.Records), nil, func(_ store.Key, value []byte) (bool, error) {
			r, err := record.Decode(value)
			if err != nil {
				return false, err
			}
			if !recrawls(&r, run) {
				return true, nil
			}
			if !rec.asksFor(&r) {
				notDue++
				return true, nil
			}
			part = append(part, again(&r, update))
			if len(part) < recrawlPart {
				return true, nil
			}
			return true, flush()
		})
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil || notDue == 0 {
		return err
	}
	return h.f.Crawl(h.crawl).change(func(rec *crawlRecord) { rec.Totals.NotDue = notDue })
}

// recrawls reports whether a run crawls a URL again that earlier ones have crawled.
func recrawls(r *record.Record, run uint32) bool {
	return r.Run != run && r.State != record.Banned && r.State != record.Same && r.State != record.Trapped && (r.State != record.Waiting || r.Visit != crawl.Visit{})
}

// again offers a URL with the score that it had.
func again(r *record.Record, update string) crawl.Discovery {
	return crawl.Discovery{URL: r.URL, Via: r.Via, Path: r.Path, Score: r.Scores.Value(update), Known: true}
}

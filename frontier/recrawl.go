package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// recrawlPart is how many URLs a recrawl offers at a time.
const recrawlPart = 5000

// Recrawl offers all URLs that earlier runs have crawled, with the scores they had, but for those whose interval is not over, and for requisites that no page embeds
// any more. It is idempotent by id.
func (h URLs) Recrawl(id string) error {
	_, err := h.recrawl(id, false)
	return err
}

// RecrawlNow is Recrawl, as OfferNow is Offer.
func (h URLs) RecrawlNow(id string) (all bool, err error) { return h.recrawl(id, true) }

func (h URLs) recrawl(id string, now bool) (all bool, err error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return false, err
	}
	rec := s.crawlRecord
	h.f.mu.Unlock()
	update, run := rec.Definition.Order.Update, rec.Run
	var part []crawl.Discovery
	notDue := int64(0)
	all = true
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		found := part
		part = nil
		if !now {
			return h.Offer(partID(id, found), found) // a second try leaves out what the first has offered
		}
		some, err := h.OfferNow(id, found)
		all = all && some
		return err
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
			if left, err := s.unembedded(txn, &r, run); left || err != nil {
				return true, err
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
		return false, err
	}
	if err := flush(); err != nil || notDue == 0 {
		return all, err
	}
	return all, h.f.Crawl(h.crawl).change(func(rec *crawlRecord) { rec.Totals.NotDue = notDue })
}

// recrawls reports whether a run crawls a URL again that earlier ones have crawled.
func recrawls(r *record.Record, run uint32) bool {
	return r.Run != run && r.State != record.Banned && r.State != record.Same && r.State != record.Trapped && (r.State != record.Waiting || r.Visit != crawl.Visit{})
}

// unembedded reports whether a requisite, or what is probably one, is left out of a run unless a page of the run embeds it: its host said that it does not exist,
// or no page has embedded it in the run that asked for it last, and the page that did so before has been read since. A page that has not changed (304) embeds what it did. Of a page that
// is not known here, as of another worker, nothing is known: then it is left out, too. What a run has left out stays so until a page embeds it; a requisite whose interval was not over
// then was not left out.
func (s *state) unembedded(txn store.Reader, r *record.Record, run uint32) (bool, error) {
	switch {
	case crawl.ClassOf(r.Path) == crawl.ClassPage:
		return false, nil
	case r.State == record.Done && r.End == record.Absent:
		return true, nil
	case r.Scores.Count > 0:
		return false, nil
	}
	u, err := urls.Trusted(r.Via)
	if err != nil {
		return true, nil
	}
	page, known, err := txn.Record(s.keys.Record(record.KeyOf(u)))
	if err != nil || !known {
		return true, err
	}
	read := page.State == record.Done && page.End != record.Unread
	wasDue := r.Recheck.Earliest() <= page.Recheck.Asked // in the last run that asked for the page: else that run says nothing
	return read && page.Run >= r.Run || wasDue && page.Run > r.Run && page.Run < run, nil
}

// again offers a URL with the score that it had.
func again(r *record.Record, update string) crawl.Discovery {
	return crawl.Discovery{URL: r.URL, Via: r.Via, Path: r.Path, Score: r.Scores.Value(update), Known: true}
}

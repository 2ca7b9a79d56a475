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
	notDue, err := h.recrawl(nil, func(found []crawl.Discovery) error {
		return h.Offer(partID(id, found), found) // a second try leaves out what the first has offered
	})
	if err != nil || len(notDue) == 0 {
		return err
	}
	return h.f.Crawl(h.crawl).change(func(rec *crawlRecord) { rec.Totals.NotDue = notDue[0] })
}

// recrawl calls offer with what a run asks for again in some partitions, in parts; nil: in all. notDue is how many URLs of each partition it leaves out because their interval is not over; of all, if that
// was asked for, they are those of partition 0.
func (h URLs) recrawl(in []Partition, offer func([]crawl.Discovery) error) (notDue map[Partition]int64, err error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return nil, err
	}
	rec := s.crawlRecord
	h.f.mu.Unlock()
	var part []crawl.Discovery
	notDue = map[Partition]int64{}
	flush := func() error {
		found := part
		if part = nil; len(found) == 0 {
			return nil
		}
		return offer(found)
	}
	err = h.f.store.View(func(txn store.Reader) error {
		of := func(p Partition) func(store.Key, []byte) (bool, error) {
			return func(_ store.Key, value []byte) (bool, error) {
				found, due, err := s.again(txn, &rec, value)
				switch {
				case err != nil:
					return false, err
				case !due:
					notDue[p]++
				case found != nil:
					part = append(part, *found)
				}
				if len(part) < recrawlPart {
					return true, nil
				}
				return true, flush()
			}
		}
		if in == nil {
			return txn.Scan(s.keys.All(store.Records), nil, of(0))
		}
		for _, p := range in {
			if err := txn.InPartition(s.keys, store.Records, p, of(p)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return notDue, err
}

// again is what a run asks for again of a record, with the score that it had; nil: nothing. due is false if that is because its interval is not over.
func (s *state) again(txn store.Reader, rec *crawlRecord, value []byte) (found *crawl.Discovery, due bool, err error) {
	r, err := record.Decode(value)
	if err != nil || !recrawls(&r, rec.Run) {
		return nil, true, err
	}
	if left, err := s.unembedded(txn, &r, rec.Run); left || err != nil {
		return nil, true, err
	}
	if !rec.asksFor(&r) {
		return nil, false, nil
	}
	return &crawl.Discovery{URL: r.URL, Via: r.Via, Path: r.Path, Score: r.Scores.Value(rec.Definition.Order.Update), Known: true}, true, nil
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

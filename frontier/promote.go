package frontier

import (
	"cmp"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// promote brings delayed URLs whose time has come back into their queues.
func (h Claims) promote() error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	now := h.f.opts.Now().Unix()
	idle := err != nil || s.delays.n == 0 || s.delays.first > now
	h.f.mu.Unlock()
	if idle {
		return err
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		e := h.f.edit(tx, s)
		h.f.mu.Lock()
		partitions := s.delays.due(now)
		h.f.mu.Unlock()
		due, next, err := dueBy(tx.Reader, s.keys, partitions, now)
		if err != nil {
			return nil, err
		}
		for _, d := range due {
			if err := tx.Delete(s.keys.Delay(d.at, d.key)); err != nil {
				return nil, err
			}
			r, found, err := tx.Record(s.keys.Record(d.key))
			if err != nil {
				return nil, err
			}
			if !found || r.State != record.Delayed || r.Due != d.at {
				continue
			}
			priority, err := e.sites.priority(d.key.PLD, &r, &e.rec.Definition)
			if err != nil {
				return nil, err
			}
			if err := e.enqueue(d.key, &r, priority, false); err != nil {
				return nil, err
			}
		}
		if err := h.f.loadQueues(s, slices.Collect(maps.Keys(e.changes))...); err != nil {
			return nil, err
		}
		return func() {
			s.delays.remove(len(due), next)
			e.apply()
		}, nil
	})
}

// promotedAtOnce is how many URLs come back in one transaction.
const promotedAtOnce = 1000

// dueURL is a URL whose next attempt is due.
type dueURL struct {
	at  int64
	key record.Key
}

// dueBy lists URLs of partitions that are due by now, in the order of their times, and says of each partition that was looked at when
// its next one is due; 0: never.
func dueBy(r store.Reader, keys store.Keys, partitions []store.Partition, now int64) (due []dueURL, next map[store.Partition]int64, err error) {
	next = map[store.Partition]int64{}
	for _, p := range partitions {
		if len(due) >= promotedAtOnce {
			break
		}
		next[p] = 0
		err := r.Keys(keys.Delays(p), func(key store.Key) (bool, error) {
			at, u, ok := key.Delay()
			if !ok {
				return true, nil
			}
			if at > now || len(due) >= promotedAtOnce {
				next[p] = at
				return false, nil
			}
			due = append(due, dueURL{at, u})
			return true, nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(due, func(a, b dueURL) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key.PLD, b.key.PLD), cmp.Compare(a.key.URL, b.key.URL))
	})
	return due, next, nil
}

package frontier

import (
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// promote brings delayed URLs whose time has come back into their queues.
func (h Crawl) promote() error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	now := h.f.opts.Now().Unix()
	idle := err != nil || s.delayed == 0 || s.due > now
	h.f.mu.Unlock()
	if idle {
		return err
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		e, taken, next := h.f.edit(tx, s), 0, int64(0)
		var due []record.Key
		var times []int64
		var keys []store.Key
		err := tx.Keys(s.keys.All(store.Delays), func(key store.Key) (bool, error) {
			at, k, ok := key.Delay()
			if !ok {
				return true, nil
			}
			if at > now || len(keys) >= 1000 {
				next = at
				return false, nil
			}
			due, times, keys = append(due, k), append(times, at), append(keys, slices.Clone(key))
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		for i, k := range due {
			if err := tx.Delete(keys[i]); err != nil {
				return nil, err
			}
			taken++
			r, found, err := tx.Record(s.keys.Record(k))
			if err != nil {
				return nil, err
			}
			if !found || r.State != record.Delayed || r.Due != times[i] {
				continue
			}
			priority, err := e.sites.priority(&r, &e.rec.Definition)
			if err != nil {
				return nil, err
			}
			if err := e.enqueue(k, &r, priority, false); err != nil {
				return nil, err
			}
		}
		if err := h.f.recall(s, slices.Collect(maps.Keys(e.changes))...); err != nil {
			return nil, err
		}
		return func() {
			s.delayed -= taken
			s.due = next
			e.apply()
		}, nil
	})
}

package frontier

import (
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// promote brings delayed URLs whose time has come back into their queues.
func (f *Frontier) promote(name string) error {
	f.mu.Lock()
	s, err := f.get(name)
	now := f.opts.Now().Unix()
	idle := err != nil || s.delayed == 0 || s.due > now
	f.mu.Unlock()
	if idle {
		return err
	}
	return f.update(func(txn *badger.Txn) (func(), error) {
		rec, learned := f.draft(s), openSites(txn, s.id, s.learner())
		changes, taken, next := map[uint64]*change{}, 0, int64(0)
		var due []urlKey
		var times []int64
		var keys [][]byte
		err := scan(txn, prefix(kindDelayed, s.id), nil, false, func(key, _ []byte) (bool, error) {
			at, k, ok := parseDelayedKey(key)
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
			if err := txn.Delete(keys[i]); err != nil {
				return nil, err
			}
			taken++
			r, found, err := getRecord(txn, recordKey(s.id, k))
			if err != nil {
				return nil, err
			}
			if !found || r.state != stateDelayed || r.due != times[i] {
				continue
			}
			rec.Counter++
			r.state = stateWaiting
			priority, err := learned.priority(&r, &rec.Definition)
			if err != nil {
				return nil, err
			}
			r.place = place{priority, rec.Counter}
			if err := setQueued(txn, s.id, k, &r); err != nil {
				return nil, err
			}
			if changes[k.pld] == nil {
				changes[k.pld] = &change{pld: k.pld}
			}
			changes[k.pld].added = append(changes[k.pld].added, r.place)
		}
		if err := f.recall(s, slices.Collect(maps.Keys(changes))...); err != nil {
			return nil, err
		}
		return func() {
			s.delayed -= taken
			s.due = next
			for _, c := range changes {
				f.applyChange(s, c)
			}
		}, nil
	})
}

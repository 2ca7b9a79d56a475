package frontier

import (
	"fmt"
	"maps"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/scope"
)

// load brings up the memory of all crawls.
func (f *Frontier) load() error {
	return f.store.View(func(txn store.Reader) error {
		err := scanCrawls(txn, func(rec crawlRecord, _ []byte) error {
			if _, err := txn.Load(rec.ID.Plan(), &rec.planRecord); err != nil {
				return err
			}
			if _, err := txn.Load(rec.ID.History(), &rec.History); err != nil {
				return err
			}
			if n := len(rec.History); n > 0 && rec.History[n-1].At.Before(rec.Started) {
				rec.History = nil // of the run before
			}
			s, err := f.newState(rec)
			if err != nil {
				return err
			}
			f.crawls[rec.Name] = s
			f.nextID = max(f.nextID, rec.ID+1)
			return nil
		})
		if err != nil {
			return fmt.Errorf("open frontier: %w", err)
		}
		for _, s := range f.crawls {
			if err != nil {
				break
			}
			claimed := false // claims of a run that was not ended well still keep others from their hosts
			err = txn.Keys(s.keys.All(store.Claims), func(store.Key) (bool, error) {
				claimed = true
				return false, nil
			})
			if s.asleep = !s.Active && !claimed; err == nil && !s.asleep {
				err = f.loadCrawl(txn, s)
			}
		}
		for pld := range f.hosts.claims { // the claims of all crawls are known now
			f.hosts.refresh(nil, pld)
		}
		return err
	})
}

func (f *Frontier) newState(rec crawlRecord) (*state, error) {
	sc, err := scope.New(rec.Definition, rec.Bounds)
	if err != nil {
		return nil, err
	}
	return &state{
		crawlRecord: rec, keys: rec.ID, scope: sc, queues: map[uint64]*queue.Queue{}, hosts: f.hosts, schedule: queue.NewSchedule(),
		claims: claims.NewSet(), reserve: reserve{price: queue.Any},
	}, nil
}

func (f *Frontier) loadCrawl(txn store.Reader, s *state) error {
	err := txn.Scan(s.keys.All(store.Claims), nil, func(_ store.Key, value []byte) (bool, error) {
		var c Claim
		if err := codec.Unmarshal(value, &c); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.applyClaims(claims.Change{Claims: []Claim{c}})
		return true, nil
	})
	if err != nil {
		return err
	}
	moving, err := txn.Moving()
	if err != nil {
		return err
	}
	maps.DeleteFunc(moving, func(_ Partition, of Choice) bool { return !s.chosen(of) })
	err = f.loadQueuesOf(s, func(kind store.Kind, fn func(store.Key, []byte) (bool, error)) error {
		return txn.Scan(s.keys.All(kind), nil, func(key store.Key, value []byte) (bool, error) {
			if len(moving) > 0 && isIn(moving, key) {
				return true, nil
			}
			return fn(key, value)
		})
	})
	if err != nil {
		return err
	}
	err = txn.Scan(s.keys.All(store.Releases), nil, func(_ store.Key, value []byte) (bool, error) {
		var r EndedLease
		if err := codec.Unmarshal(value, &r); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.claims.Apply(claims.Change{Releases: []EndedLease{r}})
		return true, nil
	})
	if err == nil {
		err = s.loadLearning(txn)
	}
	s.planPlacing()
	s.placeAll()
	if s.learner() != nil { // hosts are compared once all are known
		if s.schedule.Know(s.Outcomes); s.schedule.Apart() {
			s.placeAll()
		}
	}
	s.placed = s.placing
	return err
}

// isIn reports whether a key of a kind of partitions is in one of some partitions.
func isIn(some map[Partition]Choice, key store.Key) bool {
	for p := range some {
		if p.Has(key[keyHead:]) {
			return true
		}
	}
	return false
}

// loadQueuesOf brings up the queues of a crawl, and what waits for its next attempt, from the entries that scan gives.
func (f *Frontier) loadQueuesOf(s *state, scan func(store.Kind, func(store.Key, []byte) (bool, error)) error) error {
	err := scan(store.Entries, func(key store.Key, value []byte) (bool, error) {
		if u, at, ok := store.EntryOf(key, value); ok {
			s.queue(u.PLD, "").Load(at, s.claims.Holder(u.PLD, u.URL) != "")
			s.waiting++
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	idle := 0
	err = scan(store.Queues, func(key store.Key, value []byte) (bool, error) {
		var m record.Queue
		if err := codec.Unmarshal(value, &m); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		pld := key.PLD()
		if _, needed := s.queues[pld]; !needed && idle >= f.opts.Idle {
			s.evicted = true
			return true, nil
		} else if !needed {
			idle++
		}
		m.Restore(s.queue(pld, m.Name), s.Run)
		return true, nil
	})
	if err != nil {
		return err
	}
	return scan(store.Delays, func(key store.Key, _ []byte) (bool, error) {
		if at, u, ok := key.Delay(); ok {
			s.delays.add(u.PLD, at)
		}
		return true, nil
	})
}

// scanCrawls calls fn with the record of each crawl, by name, and with its bytes on disk, which are valid until fn returns.
func scanCrawls(txn store.Reader, fn func(rec crawlRecord, raw []byte) error) error {
	return txn.Scan(store.Crawl(""), nil, func(_ store.Key, value []byte) (bool, error) {
		var rec crawlRecord
		if err := codec.Unmarshal(value, &rec); err != nil {
			return false, err
		}
		return true, fn(rec, value)
	})
}

package frontier

import (
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/scope"
)

// load brings up the memory of all crawls.
func (f *Frontier) load() error {
	return f.db.View(func(txn *badger.Txn) error {
		err := scan(txn, []byte{kindCrawl}, nil, true, func(_, value []byte) (bool, error) {
			var rec crawlRecord
			if err := codec.Unmarshal(value, &rec); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if _, err := getCBOR(txn, textKey(kindPlan, rec.ID, ""), &rec.planRecord); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if _, err := getCBOR(txn, textKey(kindTrail, rec.ID, ""), &rec.Trail); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if n := len(rec.Trail); n > 0 && rec.Trail[n-1].At.Before(rec.Started) {
				rec.Trail = nil // of the run before
			}
			s, err := f.newState(rec)
			if err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			f.crawls[rec.Name] = s
			f.nextID = max(f.nextID, rec.ID+1)
			return true, nil
		})
		for _, s := range f.crawls {
			if err != nil {
				break
			}
			out := false // claims of a run that was not ended well still keep others from their hosts
			err = scan(txn, prefix(kindClaim, s.id), nil, false, func([]byte, []byte) (bool, error) {
				out = true
				return false, nil
			})
			if s.asleep = !s.Active && !out; err == nil && !s.asleep {
				err = f.loadCrawl(txn, s)
			}
		}
		for pld := range f.hosts.out { // the claims of all crawls are known now
			f.hosts.tell(nil, pld)
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
		crawlRecord: rec, id: rec.ID, scope: sc, queues: map[uint64]*queue.Queue{}, hosts: f.hosts, schedule: queue.NewSchedule(),
		claims: map[string]*Claim{}, journal: map[string]Release{},
	}, nil
}

func (f *Frontier) loadCrawl(txn *badger.Txn, s *state) error {
	err := scan(txn, prefix(kindClaim, s.id), nil, true, func(_, value []byte) (bool, error) {
		var c Claim
		if err := codec.Unmarshal(value, &c); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.hold(&c)
		return true, nil
	})
	if err != nil {
		return err
	}
	err = scan(txn, prefix(kindQueue, s.id), nil, true, func(key, value []byte) (bool, error) {
		pld, at, ok := parseQueueKey(key)
		if ok && len(value) == 8 {
			taken := s.taken.claim(record.Key{PLD: pld, URL: binary.BigEndian.Uint64(value)}) != ""
			s.queue(pld, "").Load(at, taken)
			s.waiting++
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	idle := 0
	err = scan(txn, prefix(kindMeta, s.id), nil, true, func(key, value []byte) (bool, error) {
		var m record.Queue
		if err := codec.Unmarshal(value, &m); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		pld := pldOf(key)
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
	err = scan(txn, prefix(kindDelayed, s.id), nil, false, func(key, _ []byte) (bool, error) {
		if at, _, ok := parseDelayedKey(key); ok {
			s.delay(at)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	err = scan(txn, prefix(kindRelease, s.id), nil, true, func(_, value []byte) (bool, error) {
		var r Release
		if err := codec.Unmarshal(value, &r); err != nil {
			return false, fmt.Errorf("open frontier: %w", err)
		}
		s.journal[r.Lease] = r
		return true, nil
	})
	if err == nil {
		err = s.loadLearning(txn)
	}
	for _, q := range s.queues {
		q.Spent = s.pldSpent(q)
		s.schedule.Place(q, f.opts.Now())
	}
	return err
}

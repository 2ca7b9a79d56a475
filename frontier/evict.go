package frontier

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// evict takes queues out of memory that have no URLs, no claim and no rest, those first that have rested longest, until as
// many are left as Options.Idle says: a crawl that has met millions of hosts has URLs of few of them. What is known of such
// a queue is on disk, see record.Queue. The writer calls it between two transactions: a queue that a mutation has recalled
// stays until it has been applied. Frontier.mu is held.
func (f *Frontier) evict(s *state) {
	now := f.opts.Now()
	for q := s.schedule.PopIdle(f.opts.Idle, now); q != nil; q = s.schedule.PopIdle(f.opts.Idle, now) {
		delete(s.queues, q.PLD)
		s.evicted = true
	}
}

// loadQueues brings queues back into memory that were evicted. A mutation calls it before it rests on what memory says of a
// queue that has no claim, or adds to it: else the figures on disk would be written over with those of a new queue. It
// reads what is committed: what the transaction in progress writes of a queue, it does so with the queue in memory, or of a
// new one.
func (f *Frontier) loadQueues(s *state, plds ...uint64) error {
	f.mu.Lock()
	var missing []uint64
	for _, pld := range plds {
		if _, there := s.queues[pld]; !there && s.evicted {
			missing = append(missing, pld)
		}
	}
	f.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	return f.store.View(func(txn store.Reader) error {
		for _, pld := range missing {
			var m record.Queue
			known, err := txn.Load(s.keys.Queue(pld), &m)
			if err != nil {
				return err
			}
			if !known {
				continue
			}
			f.mu.Lock()
			q := s.queue(pld, m.Name)
			m.Restore(q, s.Run)
			q.Limit(s.pldLeft(q))
			s.schedule.Place(q, f.opts.Now())
			f.mu.Unlock()
		}
		return nil
	})
}

// queueOf returns a queue as it stands, from memory or from disk; false if the crawl has not met its PLD. The crawl may have
// fallen asleep since the caller asked for it: without the lock, tidyUp may run in between, and no queue would be known.
func (f *Frontier) queueOf(s *state, pld uint64) (found queue.Queue, known bool, err error) {
	f.mu.Lock()
	if err := f.awake(s); err != nil {
		f.mu.Unlock()
		return found, false, err
	}
	q, there := s.known(pld)
	evicted := s.evicted
	if there {
		found = *q
	}
	f.mu.Unlock()
	if there || !evicted {
		return found, there, nil
	}
	var m record.Queue
	err = f.store.View(func(txn store.Reader) (err error) {
		known, err = txn.Load(s.keys.Queue(pld), &m)
		return err
	})
	if err != nil || !known {
		return found, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found = *queue.New(pld)
	found.Name = m.Name
	m.Restore(&found, s.Run)
	s.steer(&found)
	s.hosts.inform(s, &found)
	return found, true, nil
}

// crawlDelay is the longest Crawl-delay that any crawl in memory knows of a host.
func (f *Frontier) crawlDelay(pld uint64) (longest time.Duration, err error) {
	var evicted []store.Keys
	f.mu.Lock()
	for _, s := range f.crawls {
		if q, there := s.queues[pld]; there {
			longest = max(longest, q.Delay)
		} else if s.evicted {
			evicted = append(evicted, s.keys)
		}
	}
	f.mu.Unlock()
	if len(evicted) == 0 {
		return longest, nil
	}
	err = f.store.View(func(txn store.Reader) error {
		for _, keys := range evicted {
			var m record.Queue
			if _, err := txn.Load(keys.Queue(pld), &m); err != nil {
				return err
			}
			longest = max(longest, time.Duration(m.Delay)*time.Millisecond)
		}
		return nil
	})
	return longest, err
}

// Met reports whether a crawl has met a PLD.
func (h URLs) Met(pld string) bool {
	s, err := h.state()
	if err != nil {
		return false
	}
	_, known, err := h.f.queueOf(s, xxhash.Sum64String(pld))
	return known && err == nil
}

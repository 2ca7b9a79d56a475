package frontier

import (
	"time"

	"github.com/dgraph-io/badger/v4"
)

// tidyEvery is how often crawls whose run has ended are looked for that were brought up to answer a question.
const tidyEvery = 10 * time.Minute

// tidyUp lets crawls sleep whose run has ended: of these memory keeps the record alone, and nothing of queues, learner and
// URLs until somebody asks or the next run begins. The writer calls it between two transactions: a mutation finds a crawl
// awake from its begin to its end.
func (f *Frontier) tidyUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.crawls {
		if !s.Active && !s.asleep && len(s.claims) == 0 {
			s.clear()
			s.asleep = true
		}
	}
}

// clear empties what memory holds of a crawl beside its record.
func (s *state) clear() {
	s.queues, s.evicted, s.schedule, s.learning = map[uint64]*queue{}, false, newSchedule(), nil
	s.claims, s.taken, s.journal = map[string]*Claim{}, map[urlKey]string{}, map[string]Release{}
	s.delayed, s.due, s.waiting = 0, 0, 0
}

// awake brings the memory of a crawl up again; Frontier.mu is held.
func (f *Frontier) awake(s *state) error {
	if !s.asleep {
		return nil
	}
	select {
	case <-f.closed:
		return ErrClosed
	default:
	}
	s.clear()
	if err := f.db.View(func(txn *badger.Txn) error { return f.loadCrawl(txn, s) }); err != nil {
		return err
	}
	s.asleep = false
	return nil
}

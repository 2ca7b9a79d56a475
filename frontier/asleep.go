package frontier

import (
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// tidyEvery is how often crawls whose run has ended are looked for that were brought up to answer a question.
const tidyEvery = 10 * time.Minute

// tidyUp lets crawls sleep whose run has ended: of these memory keeps the record alone, and nothing of queues, learner and
// URLs until somebody asks or the next run begins. The writer calls it between two transactions: a mutation finds a crawl
// awake from its start to its end.
func (f *Frontier) tidyUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.crawls {
		if !s.Active && !s.asleep && s.claims.Len() == 0 && !s.saving() && s.placed == s.placing {
			s.clear()
			s.asleep = true
		}
	}
}

// clear empties what memory holds of a crawl beside its record.
func (s *state) clear() {
	s.queues, s.evicted, s.schedule, s.learning = map[uint64]*queue.Queue{}, false, queue.NewSchedule(), nil
	s.taught = nil
	s.claims = claims.NewSet()
	s.delays, s.waiting = delays{}, 0
	s.placing, s.placed = nil, nil
}

// loading is the reading of a crawl that sleeps.
type loading struct {
	done chan struct{} // closed at its end
	err  error
}

// awake brings the memory of a crawl up again. Frontier.mu is held, and released while the crawl is read from disk: the claims
// of other crawls do not wait for that. Other callers that ask for the crawl meanwhile wait for the same reading.
//
// What is read is current: a crawl that sleeps is not changed, except to forget it. handle.update and draft awake it first, and it
// falls asleep between two transactions.
func (f *Frontier) awake(s *state) error {
	for s.asleep {
		if other := s.loading; other != nil {
			f.mu.Unlock()
			<-other.done
			f.mu.Lock()
			if other.err != nil {
				return other.err
			}
			continue
		}
		mine := &loading{done: make(chan struct{})}
		s.loading = mine
		rec, changes := s.crawlRecord, f.moves.changes-1
		var read *state
		var err error
		for err == nil && changes != f.moves.changes { // else a partition would be missing, or still be there
			changes = f.moves.changes
			f.mu.Unlock()
			read, err = f.readCrawl(rec)
			f.mu.Lock()
		}
		if mine.err, s.loading = err, nil; err == nil {
			s.replaceMemory(read)
			s.asleep = false
		}
		close(mine.done)
		if err != nil {
			return err
		}
	}
	return nil
}

// readCrawl reads what memory is to hold of a crawl, apart from all others; Frontier.mu is not held.
func (f *Frontier) readCrawl(rec crawlRecord) (*state, error) {
	if f.onLoad != nil {
		f.onLoad(rec.Name)
	}
	s := &state{crawlRecord: rec, keys: rec.ID, hosts: newHosts(nil, f.opts)}
	s.clear()
	return s, f.store.View(func(txn store.Reader) error { return f.loadCrawl(txn, s) })
}

// replaceMemory puts what was read of a crawl in force, and joins it with what all crawls know of hosts: of those, few rest or are
// asked, however many queues there are. Frontier.mu is held.
func (s *state) replaceMemory(read *state) {
	s.queues, s.evicted, s.schedule, s.learning = read.queues, read.evicted, read.schedule, read.learning
	s.claims = read.claims
	s.delays, s.waiting = read.delays, read.waiting
	s.placing, s.placed = read.placing, read.placed
	for c := range s.claims.All() {
		s.hosts.enter(s, c)
	}
	s.hosts.informAll(s)
}

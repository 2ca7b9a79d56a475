package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// queue returns the queue of a PLD and makes it if there is none.
func (s *state) queue(pld uint64, name string) *queue.Queue {
	q, known := s.known(pld)
	if !known {
		q = queue.New(pld)
		q.Run, q.Costly = s.Run, s.learner() != nil
		s.queues[pld] = q
		s.hosts.inform(s, q)
	}
	if name != "" {
		q.Name = name
	}
	if !known {
		s.steer(q)
	}
	return q
}

// known returns the queue of a PLD as it stands in the present run; false if memory has none. What a mutation reads or writes of a
// queue that was there before, it gets from here: what the queue gave in an earlier run would else be kept as of this one.
func (s *state) known(pld uint64) (*queue.Queue, bool) {
	q, known := s.queues[pld]
	if known && q.Run != s.Run {
		s.placeQueue(q)
	}
	return q, known
}

// has reports whether a queue that a round has picked is still that of the crawl. While the round reads it, without the lock, a batch
// that had lost its claim may reopen it, and end; then the queue may be evicted, and the next URL of its PLD makes another one. If
// the old one were written or placed in the schedule, its eviction would take the other out of memory, and what that has given
// would not count against the budgets. Frontier.mu is held; between two mutations the answer may change.
func (s *state) has(q *queue.Queue) bool { return s.queues[q.PLD] == q }

func (s *state) pldLeft(q *queue.Queue) int64 {
	return q.Done.Left(s.Definition.BudgetOf(q.Name))
}

// saveMeta encodes and writes what is kept of a queue, in a mutation. Frontier.mu is not held.
func (s *state) saveMeta(tx store.Tx, pld uint64, m record.Queue) error {
	if s.onSave != nil {
		s.onSave()
	}
	m.Run = s.Run // which the writer alone changes
	return tx.Save(s.keys.Queue(pld), m)
}

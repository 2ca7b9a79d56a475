package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// queue returns the queue of a PLD and makes it if there is none.
func (s *state) queue(pld uint64, name string) *queue.Queue {
	q, known := s.queues[pld]
	if !known {
		q = queue.New(pld)
		q.Costly = s.learner() != nil
		s.queues[pld] = q
		s.hosts.inform(s, q)
	}
	if name != "" {
		q.Name = name
	}
	return q
}

// has reports whether a queue that a round has picked is still that of the crawl. While the round reads it, without the lock, a batch
// that had lost its claim may reopen it, and end; then the queue may be evicted, and the next URL of its PLD makes another one. If
// the old one were written or placed in the schedule, its eviction would take the other out of memory, and what that has given
// would not count against the budgets. Frontier.mu is held; between two mutations the answer may change.
func (s *state) has(q *queue.Queue) bool { return s.queues[q.PLD] == q }

func (s *state) pldSpent(q *queue.Queue) bool {
	return q.Done.Left(s.Definition.Budget) <= 0
}

func (s *state) saveMeta(tx store.Tx, pld uint64, m record.Queue) error {
	m.Run = s.Run
	return tx.Save(s.keys.Queue(pld), m)
}

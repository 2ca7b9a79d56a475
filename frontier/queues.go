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

func (s *state) pldSpent(q *queue.Queue) bool {
	return q.Done.Left(s.Definition.Budget) <= 0
}

func (s *state) saveMeta(tx store.Tx, pld uint64, m record.Queue) error {
	m.Run = s.Run
	return tx.Save(s.keys.Queue(pld), m)
}

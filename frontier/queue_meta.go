package frontier

import (
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
)

// queueMeta is what is kept of a queue.
type queueMeta struct {
	Name  string `cbor:"1,keyasint"`
	Next  int64  `cbor:"2,keyasint,omitempty"` // Unix milliseconds
	Fails int    `cbor:"3,keyasint,omitempty"`
	Done  int64  `cbor:"4,keyasint,omitempty"`
	Run   uint32 `cbor:"5,keyasint"`
	Rest  int64  `cbor:"6,keyasint,omitempty"` // Unix milliseconds
	Pace  int64  `cbor:"7,keyasint,omitempty"` // milliseconds
	Delay int64  `cbor:"8,keyasint,omitempty"` // milliseconds
	Asked int64  `cbor:"20,keyasint,omitempty"`

	Unread map[string]int `cbor:"23,keyasint,omitempty"` // 21 was a number
}

// metaOf is a queue as it is kept. Frontier.mu is held.
func metaOf(q *queue.Queue) queueMeta {
	m := queueMeta{
		Name: q.Name, Next: millis(q.Next), Fails: q.Fails, Unread: q.Unread, Done: q.Done.Pages, Asked: q.Done.Requests, Pace: q.Pace.Milliseconds(), Delay: q.Delay.Milliseconds(),
	}
	m.keepRest(q.Rest)
	return m
}

func (m *queueMeta) keepRest(until time.Time) {
	if m.Rest = 0; !until.IsZero() {
		m.Rest = millis(until)
	}
}

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

func (s *state) saveMeta(txn *badger.Txn, pld uint64, m queueMeta) error {
	m.Run = s.Run
	return setCBOR(txn, pldKey(kindMeta, s.id, pld), m)
}

// restore brings up what was kept of the queue; counts of another run than the present one are past.
func restore(q *queue.Queue, m queueMeta, run uint32) {
	q.Delay = time.Duration(m.Delay) * time.Millisecond
	if q.Pace = time.Duration(m.Pace) * time.Millisecond; m.Next > 0 {
		q.Next = time.UnixMilli(m.Next)
	}
	if m.Run != run {
		return
	}
	q.Done, q.Fails, q.Unread = queue.Tally{Pages: m.Done, Requests: m.Asked}, m.Fails, m.Unread
	if m.Rest != 0 {
		q.Rest = time.UnixMilli(m.Rest)
	}
}

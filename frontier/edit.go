package frontier

import (
	"errors"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// edit is what a mutation changes of one crawl: its record and what was learned of its sites, which are written with the
// transaction, and its queues, which memory shows once the transaction is on disk.
type edit struct {
	*transaction
	f       *Frontier
	s       *state
	rec     *crawlRecord // the transaction's draft
	run     uint32       // of the crawl; a replay sets that of rec to the one of the archive's segment
	sites   *sites
	changes map[uint64]*change
	// resolved are the records that links to other URLs have changed: what was read of them before is old.
	resolved map[record.Key]bool
}

func (f *Frontier) edit(tx *transaction, s *state) *edit {
	rec := f.draft(tx, s)
	return &edit{tx, f, s, rec, rec.Run, openSites(tx.Reader, s.keys, s.learner()), nil, nil}
}

// change is what memory is to learn of a queue.
type change struct {
	pld     uint64
	name    string
	added   []queue.Position
	removed int
	// requisites counts those of the removed that are requisites.
	requisites int
	// concluded counts those of the removed that an outcome took out for good, or for a time.
	concluded int
}

// remove counts an entry that is taken out.
func (c *change) remove(at queue.Position) {
	if c.removed++; at.Requisite() {
		c.requisites++
	}
}

// change returns what is to change of a queue.
func (e *edit) change(pld uint64) *change {
	c := e.changes[pld]
	if c == nil {
		if e.changes == nil {
			e.changes = map[uint64]*change{}
		}
		c = &change{pld: pld}
		e.changes[pld] = c
	}
	return c
}

// apply brings the queues in memory up to date; Frontier.mu is held.
func (e *edit) apply() {
	for _, c := range e.changes {
		q := e.s.queue(c.pld, c.name)
		q.Leave(c.removed, c.requisites)
		e.s.waiting -= c.removed
		for _, at := range c.added {
			q.Add(at)
			e.s.waiting++
		}
		e.s.schedule.Place(q, e.f.opts.Now())
	}
}

// newQueues are the changes of queues that memory does not have, and so, once those that were evicted are recalled, the disk neither.
// They are encoded without the lock: a queue comes into memory by what the writer calls alone, so that none of these does before the
// transaction is on disk.
func (e *edit) newQueues() (list []*change) {
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	for pld, c := range e.changes {
		if _, known := e.s.queues[pld]; !known && c.name != "" {
			list = append(list, c)
		}
	}
	return list
}

// finish writes the marker, if there is one, and the metadata of new queues; apply, which is called once that is on disk, also calls more.
func (e *edit) finish(marker []byte, more func()) (apply func(), err error) {
	if err := e.f.loadQueues(e.s, slices.Collect(maps.Keys(e.changes))...); err != nil {
		return nil, err
	}
	for _, c := range e.newQueues() {
		if err := errors.Join(e.touch(e.s, c.pld), e.s.saveMeta(e.Tx, c.pld, record.Queue{Name: c.name})); err != nil {
			return nil, err
		}
	}
	if marker != nil {
		if err := e.Set(marker, nil); err != nil {
			return nil, err
		}
	}
	return func() {
		e.apply()
		if more != nil {
			more()
		}
	}, nil
}

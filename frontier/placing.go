package frontier

import (
	"reflect"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// placing is what the place of every queue in the schedule depends on, beside the queue itself. A plan that changes none of it
// moves no queue.
type placing struct {
	run    uint32 // in which a queue's tally counts, see Queue.Enter
	perPLD int64  // the budget by which Queue.Spent is worked out
	costly bool   // Queue.Costly
	plds   map[string]crawl.Override
}

// placedAtOnce is how many queues are placed while the lock is held: for less than a millisecond, where a million at once would
// hold up the claims of all crawls for a second.
const placedAtOnce = 1000

// planPlacing notes what queues are placed by from now on, after a plan has changed or was read. A change makes another value, though
// it may be equal to one before the last: a walk that has placed some of the queues in between is known by its address. Frontier.mu is held.
func (s *state) planPlacing() {
	s.maxDelays = s.Definition.MaxDelays()
	now := placing{s.Run, s.Definition.Budget.PerPLD, learns(&s.Definition), s.Definition.Overrides.PLDs}
	if s.placing == nil || !reflect.DeepEqual(*s.placing, now) {
		s.placing = &now
	}
}

// placeQueue puts a queue where it belongs by the present plan; Frontier.mu is held.
func (s *state) placeQueue(q *queue.Queue) {
	q.Enter(s.Run)
	q.Costly = s.learner() != nil
	s.steer(q)
	s.schedule.Place(q, s.hosts.opts.Now())
}

// placeAll puts all queues of a crawl that is loaded where they belong.
func (s *state) placeAll() {
	for _, q := range s.queues {
		s.placeQueue(q)
	}
}

// placeQueues puts all queues of a crawl where they belong, if its plan has changed what that depends on. Frontier.mu is held, and
// released after each portion: other crawls continue meanwhile. Until all queues are placed, nobody may claim from the schedule or
// conclude from it that nothing is left: a caller that does so calls this before, and perhaps makes the same walk beside another.
func (f *Frontier) placeQueues(s *state) {
	for s.placed != s.placing {
		if by := s.placing; f.placeBy(s, by) {
			s.placed = by
		}
	}
}

// placeBy walks over the queues; false if the plan has changed again meanwhile, or another walk has placed all of them.
func (f *Frontier) placeBy(s *state, by *placing) bool {
	n := 0
	for _, q := range s.queues { // those that come in meanwhile are placed by the same plan, and those that go are passed over
		s.placeQueue(q)
		if n++; n%placedAtOnce > 0 {
			continue
		}
		f.mu.Unlock()
		if f.onPlace != nil {
			f.onPlace()
		}
		f.mu.Lock()
		if s.placing != by || s.placed == by {
			return false
		}
	}
	return true
}

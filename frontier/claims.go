package frontier

import (
	"cmp"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// Claim returns a claim as it stands.
func (h Lane) Claim() (Claim, bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		if c, known := s.claims[h.claim]; known {
			return *c, true
		}
	}
	return Claim{}, false
}

// Claims returns the claims of a batch.
func (h Batch) Claims() []Claim {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var claims []Claim
	if s, err := h.f.get(h.crawl); err == nil {
		for _, c := range s.claims {
			if c.Batch == h.id {
				claims = append(claims, *c)
			}
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claims
}

// Unstarted lists the batches that claims of a round of claiming are bound to and that have not begun. An attempt of that round that
// was killed between the two may not have started them, and nobody else knows of them.
func (h Crawl) Unstarted(round int64) (batches []string) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		for _, c := range s.claims {
			if c.Round == round && c.Batch != "" && !c.Opened {
				batches = append(batches, c.Batch)
			}
		}
	}
	slices.Sort(batches)
	return slices.Compact(batches)
}

// held reports whether a claim is out on a queue; Frontier.mu is held.
func (s *state) held(pld uint64) bool {
	for _, c := range s.claims {
		if c.Queue == pld {
			return true
		}
	}
	return false
}

func (f *Frontier) held(s *state, pld uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.held(pld)
}

// gone reports whether a queue that a round has picked is not that of the crawl any more, see state.has. In a mutation the answer
// stands until its end: queues are evicted between two.
func (f *Frontier) gone(s *state, q *queue.Queue) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !s.has(q)
}

// heldElsewhere reports whether a claim of another crawl is out on a host.
func (f *Frontier) heldElsewhere(s *state, pld uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hosts.elsewhere(s, pld).After(f.opts.Now())
}

// indexClaim puts a claim into memory; Frontier.mu is held.
func (s *state) indexClaim(c *Claim) {
	if was, known := s.claims[c.ID]; known {
		s.free(was)
		s.hosts.leave(s, was, c.asks())
	}
	s.claims[c.ID] = c
	for _, u := range c.URLs {
		s.taken.take(record.Key{PLD: c.Queue, URL: u}, c.ID)
	}
	q := s.queue(c.Queue, c.PLD)
	q.Busy = true
	s.schedule.Remove(q)
	s.hosts.enter(s, c)
}

// drop takes a claim out of memory; back says that some of its URLs stay in the queue. Frontier.mu is
// held.
func (s *state) drop(c *Claim, back bool, now time.Time) {
	delete(s.claims, c.ID)
	s.free(c)
	q := s.queue(c.Queue, "")
	q.Free(back)
	q.Spent = s.pldSpent(q)
	s.schedule.Place(q, now)
	s.hosts.leave(s, c, nil)
}

// free gives a claim's URLs up; Frontier.mu is held.
func (s *state) free(c *Claim) {
	for _, u := range c.URLs {
		s.taken.free(record.Key{PLD: c.Queue, URL: u}, c.ID)
	}
}

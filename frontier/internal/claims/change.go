package claims

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// Change is what a decision changes. It is written to disk as a whole.
type Change struct {
	Claims    []Claim              // as they are from now on
	Dropped   []Dropped            // that are in progress no more
	Releases  []EndedLease         // that go into the journal
	Confirmed []string             // leases whose releases leave it
	Rests     map[uint64]time.Time // until when hosts are not asked, by PLD
}

// Dropped is a claim that is in progress no more.
type Dropped struct {
	*Claim
	Back bool // some of its URLs are still in the queue
	// Busy is until when its address is busy, and its queue gives no claim; zero if it is not.
	Busy time.Time
}

// Add adds a change to another one.
func (c *Change) Add(more Change) {
	c.Claims, c.Dropped = append(c.Claims, more.Claims...), append(c.Dropped, more.Dropped...)
	c.Releases, c.Confirmed = append(c.Releases, more.Releases...), append(c.Confirmed, more.Confirmed...)
	for pld, until := range more.Rests {
		c.rest(pld, until)
	}
}

// rest notes that a host is not asked before a time.
func (c *Change) rest(pld uint64, until time.Time) {
	if c.Rests == nil {
		c.Rests = map[uint64]time.Time{}
	}
	c.Rests[pld] = times.Latest(c.Rests[pld], until)
}

// Apply shows a change that is on disk. The claims are the set's own from now on.
func (s *Set) Apply(ch Change) {
	changed := slices.Clone(ch.Claims)
	for i := range changed {
		s.put(&changed[i])
	}
	for _, r := range ch.Releases {
		s.journal[r.Lease] = r
	}
	for _, lease := range ch.Confirmed {
		delete(s.journal, lease)
	}
	for _, d := range ch.Dropped {
		s.free(d.Claim)
		delete(s.claims, d.ID)
		if !d.Busy.IsZero() {
			s.busy.Note(d.IP, d.Busy, d.Busy.Add(-BusyAddress))
		}
	}
}

func (s *Set) put(c *Claim) {
	if was := s.claims[c.ID]; was != nil {
		s.free(was)
	}
	s.claims[c.ID] = c
	for _, u := range c.URLs {
		s.taken.take(c.Queue, u, c.ID)
	}
}

// free gives a claim's URLs up.
func (s *Set) free(c *Claim) {
	for _, u := range c.URLs {
		s.taken.free(c.Queue, u, c.ID)
	}
}

package claims

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// Set is what memory has of the claims of a crawl: those that are in progress, their URLs, and the journal: releases that the politeness workflow has
// not confirmed. It has no lock.
type Set struct {
	claims  map[string]*Claim
	taken   taken
	journal map[string]EndedLease // by lease
	busy    Busy
}

// NewSet returns a set without claims.
func NewSet() *Set { return &Set{claims: map[string]*Claim{}, journal: map[string]EndedLease{}} }

// Get returns a claim; nil if it is gone.
func (s *Set) Get(id string) *Claim { return s.claims[id] }

// All are the claims that are in progress, in no order.
func (s *Set) All() iter.Seq[*Claim] { return maps.Values(s.claims) }

// Len is how many claims are in progress.
func (s *Set) Len() int { return len(s.claims) }

// URLs is how many URLs the claims have.
func (s *Set) URLs() int { return s.taken.n }

// Pages is how many of them may become pages: they are neither requisites nor probably some.
func (s *Set) Pages() int {
	n := s.taken.n
	for _, c := range s.claims {
		n -= c.Requisites
	}
	return n
}

// Holder is the claim that has a URL of a PLD, both by their hashes; empty if none has.
func (s *Set) Holder(pld, url uint64) string { return s.taken.claim(pld, url) }

// Where returns the claims that a condition holds of, by ID.
func (s *Set) Where(holds func(c *Claim) bool) (list []*Claim) {
	for _, c := range s.claims {
		if holds(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Claim) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// OfBatch are the claims of a batch.
func (s *Set) OfBatch(batch string) []*Claim {
	if batch == "" {
		return nil
	}
	return s.Where(func(c *Claim) bool { return c.Batch == batch })
}

// Late are the claims that have waited too long for their lease, and those that are not wanted any more.
func (s *Set) Late(t Terms) []*Claim {
	return s.Where(func(c *Claim) bool { return t.late(c) })
}

// WaitEnds is until when the claim may wait for its lease that may wait least; zero if none waits.
func (s *Set) WaitEnds(t Terms) (first time.Time) {
	for _, c := range s.claims {
		if c.Batch != "" {
			continue
		}
		ends := c.Asked.Add(t.LeaseWait)
		if t.late(c) {
			ends = times.Earliest(ends, t.Now.Add(-1))
		}
		if first.IsZero() || ends.Before(first) {
			first = ends
		}
	}
	return first
}

// Batches are those that have claims.
func (s *Set) Batches() []string { return s.batches(func(*Claim) bool { return true }) }

// Unstarted are the batches that claims of a round are bound to and that have not been opened.
func (s *Set) Unstarted(round int64) []string {
	return s.batches(func(c *Claim) bool { return c.Round == round && !c.Opened })
}

// Expired are the batches whose claims have run out.
func (s *Set) Expired(now time.Time) []string {
	return s.batches(func(c *Claim) bool { return now.After(c.Deadline) })
}

func (s *Set) batches(holds func(c *Claim) bool) []string {
	batches := map[string]bool{}
	for _, c := range s.claims {
		if c.Batch != "" && holds(c) {
			batches[c.Batch] = true
		}
	}
	return slices.Sorted(maps.Keys(batches))
}

// InProgress reports whether a claim is in progress on a queue.
func (s *Set) InProgress(pld uint64) bool {
	for _, c := range s.claims {
		if c.Queue == pld {
			return true
		}
	}
	return false
}

// Asking counts the claims that wait for their first lease, by the server that they wait for.
func (s *Set) Asking(server func(c *Claim) string) map[string]int {
	n := map[string]int{}
	for _, c := range s.claims {
		if c.Batch == "" {
			n[server(c)]++
		}
	}
	return n
}

// WaitingURLs counts the URLs of the claims that wait for their first lease.
func (s *Set) WaitingURLs() (n int64) {
	for _, c := range s.claims {
		if c.Batch == "" {
			n += int64(len(c.URLs))
		}
	}
	return n
}

// Limits are how many claims of a crawl may be in progress.
type Limits struct {
	Lanes   int // that take a lane
	Waiting int // that wait for their lease, beside them
}

// Room is how many more claims may be made while so many take lanes and so many wait: at most Lanes take lanes unless those that wait
// are granted together, and never more than Lanes and Waiting are in progress.
func (l Limits) Room(taken, wait int) int { return max(l.Lanes-taken+min(l.Waiting-wait, 0), 0) }

// crowdedLine is how many asks of a crawl may wait for each lease of an address if many of its claims wait, see Line.
const crowdedLine = 2

// Line is how many asks of the crawl may wait for each lease of an address (politeness.Ask.Line), while so many of its claims wait: any number, 0, until
// a third of those wait that may. Then places to wait are scarce, and those that stand in long lines keep the crawl from asking for addresses that are free.
func (l Limits) Line(wait int) int {
	if 3*wait < l.Waiting {
		return 0
	}
	return crowdedLine
}

// Room is how many more claims a round may make. A claim takes a lane from its first lease until its batch has ended, and in the round that
// makes it, because the lease may be granted at once. One that an earlier round has made and that has no lease waits for its
// address. It takes no lane: claims for addresses that many want would fill the lanes.
func (s *Set) Room(l Limits, round int64) int { return l.Room(s.count(round)) }

// Taken counts the claims that take a lane, for a round.
func (s *Set) Taken(round int64) int {
	taken, _ := s.count(round)
	return taken
}

// Line is Limits.Line of the claims that wait.
func (s *Set) Line(l Limits, round int64) int {
	_, wait := s.count(round)
	return l.Line(wait)
}

// BusyUntil is until when an address is busy; it may have passed.
func (s *Set) BusyUntil(address string) time.Time { return s.busy.Until(address) }

// count counts the claims that take a lane and those that wait.
func (s *Set) count(round int64) (taken, wait int) {
	for _, c := range s.claims {
		if c.Batch == "" && c.Round != round {
			wait++
		} else {
			taken++
		}
	}
	return taken, wait
}

// Leases lists the leases that may be held, be asked for, or be on their way back.
func (s *Set) Leases() []string {
	leases := slices.Collect(maps.Keys(s.claims))
	for lease := range s.journal {
		if s.claims[lease] == nil {
			leases = append(leases, lease)
		}
	}
	slices.Sort(leases)
	return leases
}

// Releases is the journal, by lease.
func (s *Set) Releases() []EndedLease {
	return slices.SortedFunc(maps.Values(s.journal), func(a, b EndedLease) int { return cmp.Compare(a.Lease, b.Lease) })
}

// Life is what the claims of a batch share from the time they are bound to it until they are committed or given back.
type Life struct {
	Nonce   string // no other life has it
	Archive int    // number of the archive that the batch goes to
	Opened  bool   // the batch has begun to fetch
}

// Life is the present life of a batch; false if it has none.
func (s *Set) Life(batch string) (Life, bool) {
	for _, c := range s.claims {
		if c.Batch == batch {
			return Life{c.Nonce, c.Archive, c.Opened}, true
		}
	}
	return Life{}, false
}

// join makes a claim a part of a batch's present life, or of a new one if the batch has none.
func (s *Set) join(c *Claim, batch string, fresh Life) {
	life, lives := s.Life(batch)
	if !lives {
		life = fresh
	}
	c.Batch, c.Nonce, c.Archive, c.Opened = batch, life.Nonce, life.Archive, life.Opened
}

// Open returns the claim of a batch as it stands once the batch fetches. If it is gone, it is a new one without a lease and without
// URLs: held is false.
func (s *Set) Open(was Claim, batch string, fresh Life) (c Claim, held bool) {
	if now := s.claims[was.ID]; now != nil && now.Batch == batch {
		c, held = *now, true
	} else {
		c = was
		s.join(&c, batch, fresh)
		c.Lease, c.Ended, c.URLs = time.Time{}, true, nil
	}
	c.Opened = true
	return c, held
}

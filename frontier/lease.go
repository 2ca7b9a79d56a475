package frontier

import (
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Release is a lease that has ended, on its way to the politeness workflow.
type Release struct {
	Lease string    `json:"lease" cbor:"1,keyasint"`
	IP    string    `json:"ip" cbor:"2,keyasint"`
	Next  time.Time `json:"next,omitzero" cbor:"3,keyasint"`
}

// Granted is a lease that was granted to a claim.
type Granted struct {
	Lease    string
	IP       string
	Earliest time.Time
	Deadline time.Time
}

// Start binds granted claims to a batch; those that are gone meanwhile are left out, and their leases
// released. It is idempotent.
func (f *Frontier) Start(name, batch string, grants []Granted) (claims []Claim, err error) {
	err = f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		claims = claims[:0]
		var gone []Release
		var again []string // leases that were released before and must not be now
		f.mu.Lock()
		for _, g := range grants {
			c, known := s.claims[g.Lease]
			if !known {
				gone = append(gone, Release{Lease: g.Lease, IP: g.IP})
				continue
			}
			if c.Batch != "" && c.Batch != batch {
				continue // the other batch has the lease
			}
			if err := f.touch(s, c.Queue); err != nil {
				f.mu.Unlock()
				return nil, err
			}
			started := *c
			if c.Batch == batch && !g.Deadline.After(c.Lease) { // this very grant has been taken
				claims = append(claims, started)
				continue
			}
			if _, stale := s.journal[g.Lease]; stale {
				again = append(again, g.Lease)
			}
			started.Batch, started.Lease, started.Earliest, started.Ended = batch, g.Deadline, g.Earliest, false
			started.Deadline = f.opts.Now().Add(f.opts.ClaimTTL)
			claims = append(claims, started)
		}
		f.mu.Unlock()
		apply, err := f.saveClaims(txn, s, claims, gone)
		if err != nil {
			return nil, err
		}
		for _, lease := range again {
			if err := txn.Delete(textKey(kindRelease, s.id, lease)); err != nil {
				return nil, err
			}
		}
		return func() {
			apply()
			for _, lease := range again {
				delete(s.journal, lease)
			}
		}, nil
	})
	return claims, err
}

// saveClaims writes changed claims and new journal entries.
func (f *Frontier) saveClaims(txn *badger.Txn, s *state, claims []Claim, releases []Release) (func(), error) {
	for i := range claims {
		if err := setCBOR(txn, textKey(kindClaim, s.id, claims[i].ID), &claims[i]); err != nil {
			return nil, err
		}
	}
	for _, r := range releases {
		if err := setCBOR(txn, textKey(kindRelease, s.id, r.Lease), r); err != nil {
			return nil, err
		}
	}
	changed := slices.Clone(claims)
	return func() {
		for i := range changed {
			s.hold(&changed[i])
		}
		for _, r := range releases {
			s.journal[r.Lease] = r
		}
	}, nil
}

// Withdraw gives back claims that have waited too long for their lease; their asks are withdrawn by
// a release.
func (f *Frontier) Withdraw(name string) error {
	f.mu.Lock()
	s, err := f.get(name)
	late := 0
	if err == nil {
		late = len(f.late(s))
	}
	f.mu.Unlock()
	if err != nil || late == 0 {
		return err
	}
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		claims := f.late(s)
		f.mu.Unlock()
		return f.dropClaims(txn, s, claims)
	})
}

func (f *Frontier) late(s *state) []*Claim {
	var late []*Claim
	for _, c := range s.claims {
		if c.Batch == "" && f.opts.Now().Sub(c.Asked) > f.opts.LeaseWait {
			late = append(late, c)
		}
	}
	return late
}

func (f *Frontier) dropClaims(txn *badger.Txn, s *state, claims []*Claim) (func(), error) {
	var releases []Release
	for _, c := range claims {
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := txn.Delete(textKey(kindClaim, s.id, c.ID)); err != nil {
			return nil, err
		}
		if !c.Ended {
			releases = append(releases, f.releaseOf(s, c))
		}
	}
	apply, err := f.saveClaims(txn, s, nil, releases)
	return func() {
		apply()
		for _, c := range claims {
			s.drop(c, true, f.opts.Now())
		}
	}, err
}

// releaseOf ends a lease whose fetching did not say when the address may be asked again. When the last
// request was made is not known then, so the longest usual pause runs from now on.
func (f *Frontier) releaseOf(s *state, c *Claim) Release {
	r := Release{Lease: c.ID, IP: c.IP, Next: c.Owed}
	if c.Batch != "" {
		r.Next = latest(r.Next, f.opts.Now().Add(s.Definition.Politeness.MaxDelay.D()))
	}
	return r
}

// renewable tells whether a lease lasts long enough for its renewal to come in time: one that is over may
// be another's already.
func (f *Frontier) renewable(c *Claim, now time.Time) bool {
	return !c.Ended && c.Lease.After(now.Add(renewalTime))
}

// renewalTime is what a renewal may take on its way.
const renewalTime = 15 * time.Second

// Confirm takes releases out of the journal: the politeness workflow has them. Renewed leases last
// until the given time.
func (f *Frontier) Confirm(name string, releases []string, renewed []string, until time.Time) error {
	if len(releases)+len(renewed) == 0 {
		return nil
	}
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		for _, lease := range releases {
			if err := txn.Delete(textKey(kindRelease, s.id, lease)); err != nil {
				return nil, err
			}
		}
		var claims []Claim
		f.mu.Lock()
		for _, lease := range renewed {
			if c, known := s.claims[lease]; known && !c.Ended && c.Lease.After(f.opts.Now()) && until.After(c.Lease) {
				if err := f.touch(s, c.Queue); err != nil {
					f.mu.Unlock()
					return nil, err
				}
				longer := *c
				longer.Lease = until
				claims = append(claims, longer)
			}
		}
		f.mu.Unlock()
		apply, err := f.saveClaims(txn, s, claims, nil)
		return func() {
			apply()
			for _, lease := range releases {
				delete(s.journal, lease)
			}
		}, err
	})
}

// Lane is a claim opened for fetching.
type Lane struct {
	Claim
	Targets []crawl.Target
}

// Reopen brings the claims of a batch up for fetching. Of claims that are gone, the URLs that no
// other batch has taken or finished are claimed anew, without a lease. ErrFinished if the batch was
// committed.
func (f *Frontier) Reopen(name, batch string, leases []Claim, found map[string][]string) (lanes []Lane, err error) {
	err = f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		lanes = lanes[:0]
		if done, err := committed(txn, batchKey(s.id, 0, batch, "end")); err != nil {
			return nil, err
		} else if done {
			return nil, ErrFinished
		}
		var claims []Claim
		var empty []*Claim // held, but nothing of them is left
		for _, l := range leases {
			c, targets, err := f.reclaim(txn, s, batch, l, found[l.ID])
			if err != nil {
				return nil, err
			}
			if len(targets) == 0 {
				f.mu.Lock()
				if held, known := s.claims[l.ID]; known && held.Batch == batch {
					empty = append(empty, held)
				}
				f.mu.Unlock()
				continue
			}
			if err := f.touch(s, c.Queue); err != nil {
				return nil, err
			}
			claims = append(claims, c)
			lanes = append(lanes, Lane{c, targets})
		}
		drop, err := f.dropClaims(txn, s, empty)
		if err != nil {
			return nil, err
		}
		save, err := f.saveClaims(txn, s, claims, nil)
		return func() { drop(); save() }, err
	})
	return lanes, err
}

// reclaim returns the claim as it stands, or a new one of the URLs that are still to be had.
func (f *Frontier) reclaim(txn *badger.Txn, s *state, batch string, was Claim, known []string) (Claim, []crawl.Target, error) {
	f.mu.Lock()
	c, held := s.claims[was.ID]
	held = held && c.Batch == batch
	if held {
		was = *c
	} else {
		was.Batch, was.Lease, was.Ended, was.URLs = batch, time.Time{}, true, nil
	}
	if !held && len(known) > 0 {
		if u, err := urls.Trusted(known[0]); err == nil {
			was.Queue = keyOf(u).pld
		}
	}
	q, there := s.queues[was.Queue]
	blocked := !held && (!there || q.busy)
	f.mu.Unlock()
	if blocked { // another claim is out on the queue: what it leaves is taken up later
		return was, nil, nil
	}
	if !held {
		for _, text := range known {
			if u, err := urls.Trusted(text); err == nil {
				was.URLs = append(was.URLs, keyOf(u).url)
			}
		}
	}
	was.Deadline = f.opts.Now().Add(f.opts.ClaimTTL)
	targets, err := f.targets(txn, s, &was)
	return was, targets, err
}

// targets reads the claim's URLs that still wait.
func (f *Frontier) targets(txn *badger.Txn, s *state, c *Claim) ([]crawl.Target, error) {
	var targets []crawl.Target
	kept := c.URLs[:0:0]
	for _, hash := range c.URLs {
		k := urlKey{c.Queue, hash}
		r, found, err := getRecord(txn, recordKey(s.id, k))
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		holder := s.taken[k]
		f.mu.Unlock()
		if !found || r.state != stateWaiting || holder != "" && holder != c.ID {
			continue
		}
		t := crawl.Target{
			URL: r.url, Path: r.path, Attempts: int(r.attempts), Previous: r.visit,
			Priority: float64(r.place.priority) / 65535,
		}
		if r.visit.Digest != "" && r.visit.URL == "" {
			t.Previous.URL = r.url
		}
		if r.via != (urlKey{}) {
			via, found, err := getRecord(txn, recordKey(s.id, r.via))
			if err != nil {
				return nil, err
			}
			if found {
				t.Via = via.url
			}
		}
		kept = append(kept, hash)
		targets = append(targets, t)
	}
	c.URLs = kept
	return targets, nil
}

// Lease gives claims of a batch the leases that it asked for itself.
func (f *Frontier) Lease(name, batch string, grants []Granted) error {
	_, err := f.Start(name, batch, grants)
	return err
}

// Renew puts off the deadlines of a batch's claims; ErrNoBatch if it has none any more.
func (f *Frontier) Renew(name, batch string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(name)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%w: %s", ErrNoBatch, batch)
	for _, c := range s.claims {
		if c.Batch == batch {
			c.Deadline = f.opts.Now().Add(f.opts.ClaimTTL)
			err = nil
		}
	}
	return err
}

// LeaseUntil tells until when a claim's lease lasts; the zero time if it has none.
func (f *Frontier) LeaseUntil(name, claim string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, err := f.get(name); err == nil {
		if c, known := s.claims[claim]; known && !c.Ended {
			return c.Lease
		}
	}
	return time.Time{}
}

// EndLease says that a claim's fetching has ended: its lease goes into the journal of releases, and
// its queue rests until next. unreachable counts against the host.
func (f *Frontier) EndLease(name, claim string, next time.Time, unreachable bool) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		c, known := s.claims[claim]
		if !known || c.Ended {
			f.mu.Unlock()
			return nil, nil
		}
		ended := *c
		ended.Ended = true
		q := s.queue(c.Queue, c.PLD)
		fails := 0
		if unreachable {
			fails = q.fails + 1
		}
		m := q.meta()
		m.Next, m.Fails = next.UnixMilli(), fails
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(txn, c.Queue, m); err != nil {
			return nil, err
		}
		apply, err := f.saveClaims(txn, s, []Claim{ended}, []Release{{Lease: c.ID, IP: c.IP, Next: next}})
		return func() {
			q.next, q.fails = next, fails
			apply()
		}, err
	})
}

// Owe notes when the address of a claim may be asked again whose fetching was cut off.
func (f *Frontier) Owe(name, claim string, next time.Time) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		c, known := s.claims[claim]
		if !known || c.Ended || !next.After(c.Owed) {
			f.mu.Unlock()
			return nil, nil
		}
		owing := *c
		owing.Owed = next
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		return f.saveClaims(txn, s, []Claim{owing}, nil)
	})
}

// GiveBack returns a failed batch's URLs to their queues, which rest until a time, unless the batch is run
// again before and commits.
func (f *Frontier) GiveBack(name, batch string, rest time.Time) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		var claims []*Claim
		for _, c := range s.claims {
			if c.Batch == batch {
				claims = append(claims, c)
			}
		}
		f.mu.Unlock()
		if len(claims) == 0 {
			return nil, nil
		}
		f.draft(s).Totals.Failed++
		for _, c := range claims {
			f.mu.Lock()
			q := s.queue(c.Queue, c.PLD)
			m := q.meta()
			m.Rest = latest(q.rest, rest).UnixMilli()
			f.mu.Unlock()
			if err := s.saveMeta(txn, c.Queue, m); err != nil {
				return nil, err
			}
		}
		apply, err := f.dropClaims(txn, s, claims)
		return func() {
			for _, c := range claims {
				q := s.queue(c.Queue, c.PLD)
				q.rest = latest(q.rest, rest)
			}
			apply()
		}, err
	})
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (f *Frontier) withCrawl(name string, do func(s *state, txn *badger.Txn) (func(), error)) error {
	f.mu.Lock()
	s, err := f.get(name)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.update(func(txn *badger.Txn) (func(), error) { return do(s, txn) })
}

package frontier

import (
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
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

// Start binds granted claims to a batch, each once, however often it was granted; those that are gone meanwhile are left
// out, and their leases released. It is idempotent.
func (f *Frontier) Start(name, batch string, grants []Granted) (claims []Claim, err error) {
	nonce := newNonce()
	err = f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		claims = claims[:0]
		var gone []Release
		var again []string                         // leases that were released before and must not be now
		seen := make(map[string]bool, len(grants)) // a claim that came twice would be two lanes to one host
		f.mu.Lock()
		for _, g := range grants {
			if seen[g.Lease] {
				continue
			}
			seen[g.Lease] = true
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
			if c.Batch == "" {
				s.enliven(&started, batch, nonce)
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

// Lease gives claims of a batch the leases that it asked for itself.
func (f *Frontier) Lease(name, batch string, grants []Granted) error {
	_, err := f.Start(name, batch, grants)
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
		pace := q.paced(c, latest(next, f.opts.Now()))
		m := q.meta()
		m.Next, m.Fails, m.Pace = next.UnixMilli(), fails, pace.Milliseconds()
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(txn, c.Queue, m); err != nil {
			return nil, err
		}
		apply, err := f.saveClaims(txn, s, []Claim{ended}, []Release{{Lease: c.ID, IP: c.IP, Next: next}})
		return func() {
			q.next, q.fails, q.pace = next, fails, pace
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

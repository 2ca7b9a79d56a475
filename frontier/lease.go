package frontier

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// Release is a lease that has ended, on its way to the politeness workflow.
type Release struct {
	Lease  string    `json:"lease" cbor:"1,keyasint"`
	IP     string    `json:"ip" cbor:"2,keyasint"`
	Next   time.Time `json:"next,omitzero" cbor:"3,keyasint"`
	Number int64     `json:"number,omitempty" cbor:"10,keyasint,omitempty"` // of the grant that it ends; 0: whichever there is
	// Host, a PLD, is not to be asked before HostNext, by any worker; empty if it rests no longer than its address.
	Host     string    `json:"host,omitempty" cbor:"11,keyasint,omitempty"`
	HostNext time.Time `json:"host_next,omitzero" cbor:"12,keyasint,omitzero"`
}

// Key names the grant that is released.
func (r Release) Key() politeness.Key { return politeness.Key{Lease: r.Lease, Number: r.Number} }

// release ends the lease of a claim whose address, and whose host, are not to be asked before these times.
func (c *Claim) release(address, host time.Time) Release {
	r := Release{Lease: c.ID, IP: c.IP, Next: address, Number: c.Grant}
	if host.After(address) {
		r.Host, r.HostNext = c.PLD, host
	}
	return r
}

// LaneEnd says how the fetching of a claim ended, or how far it came before it was cut off.
type LaneEnd struct {
	Address     time.Time      // when its address may be asked again; zero: it was not asked, or has been given back before
	Host        time.Time      // when its hosts may be asked again, at whatever address
	Delay       time.Duration  // the longest Crawl-delay that is known of its hosts
	Unreachable bool           // nothing answered; it counts against the queue
	Unread      map[string]int // batches in a row that could not ask for a robots.txt, by origin; kept for the next one
}

// Granted is a lease that was granted to a claim, by the worker's clock.
type Granted struct {
	Lease    string
	IP       string
	Number   int64
	Earliest time.Time
	Host     time.Time // when its host may be asked, as other workers know; zero if at once
	Deadline time.Time
}

// Answered is what is to be confirmed once the shards have refused renewals, and some have perhaps not answered in time: then what
// was sent may be lost, and goes out again with the next round.
func (c Confirmed) Answered(refused []politeness.Key, late bool) Confirmed {
	if late {
		c = Confirmed{}
	}
	c.Renewed = slices.DeleteFunc(slices.Clone(c.Renewed), func(k politeness.Key) bool { return slices.Contains(refused, k) })
	c.Refused = refused
	return c
}

// hearsay is how long a rest counts that another worker has said of a host: it may correct it, as after a slow answer, and
// who asks for the next lease hears of it.
const hearsay = 30 * time.Second

// maxIdle is how long an address may be held for a host that rests: a claim that comes for longer gives its lease back.
const maxIdle = 2 * time.Second

// Confirmed is what the politeness workflow has answered to a round.
type Confirmed struct {
	Releases []politeness.Key `json:"releases,omitempty"` // that it has taken note of
	Renewed  []politeness.Key `json:"renewed,omitempty"`
	Until    time.Time        `json:"until,omitzero"`    // the renewed leases last until then
	Refused  []politeness.Key `json:"refused,omitempty"` // renewals: others have these addresses
}

// Start binds granted claims to a batch, each once, however often it was granted; those that are gone meanwhile are left
// out, and their leases released. It is idempotent.
func (f *Frontier) Start(name, batch string, grants []Granted) ([]Claim, error) {
	return f.take(name, batch, grants, false)
}

// Lease gives claims of a batch the leases that it asked for itself, for lanes that go on.
func (f *Frontier) Lease(name, batch string, grants []Granted) error {
	_, err := f.take(name, batch, grants, true)
	return err
}

// take binds granted claims to a batch, which has asked for them itself or is new.
func (f *Frontier) take(name, batch string, grants []Granted, asked bool) (claims []Claim, err error) {
	nonce := newNonce()
	err = f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		claims = claims[:0]
		var gone []Release
		var again []string                         // leases that were released before and must not be now
		seen := make(map[string]bool, len(grants)) // a claim that came twice would be two lanes to one host
		var late []*Claim                          // that another crawl was faster than
		rests := map[uint64]time.Time{}            // of hosts, that other workers know
		delays, err := f.crawlDelays(s, grants)    // a claim may have waited for long
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		for _, g := range grants {
			if seen[g.Lease] {
				continue
			}
			seen[g.Lease] = true
			c, known := s.claims[g.Lease]
			if !known {
				gone = append(gone, s.unwanted(g))
				continue
			}
			if c.Batch != "" && c.Batch != batch {
				continue // the other batch has the lease
			}
			if err := errors.Join(f.touch(s, c.Queue), f.touch(nil, c.Queue)); err != nil {
				f.mu.Unlock()
				return nil, err
			}
			started := *c
			mine := c.Batch == batch
			if mine && g.Number <= c.Grant { // this very grant has been taken
				claims = append(claims, started)
				continue
			}
			if mine && !c.leased() && !asked { // its round was asked for twice: the lane has ended under the first grant
				gone = append(gone, s.unwanted(g))
				continue
			}
			now := f.opts.Now()
			from := g.Earliest
			if g.Host.After(now) {
				rests[c.Queue] = latest(rests[c.Queue], now.Add(min(g.Host.Sub(now), hearsay)))
			}
			if rest := latest(f.hosts.next[c.Queue], g.Host); rest.After(now) { // what has passed is forgotten some time, by a restart too
				from = latest(from, rest)
			}
			idle := c.Batch == "" && from.After(latest(g.Earliest, now).Add(maxIdle))
			atWork := mine && c.leased() && c.Lease.After(now) // the grant only confirms its lease
			if !atWork && (idle || f.hosts.elsewhere(s, c.Queue).After(now)) {
				// another asks its host, or has, perhaps at another address
				if gone = append(gone, s.unwanted(g)); c.Batch == "" {
					late = append(late, c)
				}
				continue
			}
			if _, stale := s.journal[g.Lease]; stale {
				again = append(again, g.Lease)
			}
			if c.Batch == "" {
				s.enliven(&started, batch, nonce)
			}
			started.Batch, started.Lease, started.Earliest, started.Ended = batch, g.Deadline, from, false
			started.Reading, started.Grant, started.Delay = time.Time{}, g.Number, max(c.Delay, delays[c.Queue])
			started.Deadline = f.opts.Now().Add(f.opts.ClaimTTL)
			claims = append(claims, started)
		}
		f.mu.Unlock()
		apply, err := f.saveClaims(txn, s, claims, gone)
		if err != nil {
			return nil, err
		}
		drop, err := f.dropClaims(txn, s, late)
		if err != nil {
			return nil, err
		}
		rest, err := f.restHosts(txn, rests)
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
			rest()
			drop()
			for _, lease := range again {
				delete(s.journal, lease)
			}
		}, nil
	})
	return claims, err
}

// crawlDelays are the longest Crawl-delays that are known of the hosts of claims.
func (f *Frontier) crawlDelays(s *state, grants []Granted) (map[uint64]time.Duration, error) {
	delays := map[uint64]time.Duration{}
	f.mu.Lock()
	for _, g := range grants {
		if c, known := s.claims[g.Lease]; known {
			delays[c.Queue] = 0
		}
	}
	f.mu.Unlock()
	for pld := range delays {
		delay, err := f.crawlDelay(pld)
		if err != nil {
			return nil, err
		}
		delays[pld] = delay
	}
	return delays, nil
}

// unwanted gives a grant back that nobody makes use of. What the lease has said before when it was given back, and may not have
// been sent yet, stays said: its lane may have asked the address just now.
func (s *state) unwanted(g Granted) Release {
	r := s.journal[g.Lease]
	r.Lease, r.IP, r.Number = g.Lease, g.IP, g.Number
	return r
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

// deleteClaims takes claims off the disk and ends their leases. Of those whose fetching did not say when the host may
// be asked again, it is not known when the last request was made, so the longest pause runs from now on, for the
// address and for the host.
func (f *Frontier) deleteClaims(txn *badger.Txn, s *state, claims []*Claim) (apply func(), err error) {
	var releases []Release
	rests := map[uint64]time.Time{}
	now := f.opts.Now()
	for _, c := range claims {
		if err := txn.Delete(textKey(kindClaim, s.id, c.ID)); err != nil {
			return nil, err
		}
		host := latest(c.Owed, now.Add(s.longestPause(c)))
		if c.Ended {
			continue
		}
		f.unreturned(s, c, rests)
		switch {
		case c.Batch == "": // nothing was asked of it
			releases = append(releases, Release{Lease: c.ID, IP: c.IP})
			continue
		case c.leased():
			releases = append(releases, c.release(now.Add(s.Definition.Politeness.MaxDelay.D()), host))
		}
		rests[c.Queue] = latest(rests[c.Queue], host)
	}
	rest, err := f.restHosts(txn, rests)
	if err != nil {
		return nil, err
	}
	released, err := f.saveClaims(txn, s, nil, releases)
	return func() {
		released()
		rest()
	}, err
}

// longestPause is the longest pause that may be due after a request of a claim, but for those that its host has
// asked for by Retry-After, which are written down at once.
func (s *state) longestPause(c *Claim) time.Duration {
	return max(s.Definition.Politeness.MaxDelay.D(), c.Delay)
}

// renewable tells whether a lease lasts long enough for its renewal to come in time: one that is over may
// be another's already.
func (f *Frontier) renewable(c *Claim, now time.Time) bool {
	return c.leased() && c.Lease.After(now.Add(renewalTime))
}

// renewalTime is what a renewal may take on its way.
const renewalTime = 15 * time.Second

// Confirm takes in what the politeness workflow has answered: releases that it has leave the journal, leases that it has
// renewed last longer, those that it refuses to renew are over at once. What names another grant than the present one is
// passed over.
func (f *Frontier) Confirm(name string, done Confirmed) error {
	if len(done.Releases)+len(done.Renewed)+len(done.Refused) == 0 {
		return nil
	}
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		var released []string
		for _, k := range done.Releases {
			if r, known := s.journal[k.Lease]; known && r.Number == k.Number {
				released = append(released, k.Lease)
			}
		}
		for _, lease := range released {
			if err := txn.Delete(textKey(kindRelease, s.id, lease)); err != nil {
				return nil, err
			}
		}
		var claims []Claim
		now := f.opts.Now()
		set := func(keys []politeness.Key, until time.Time, changes func(c *Claim) bool) error {
			for _, k := range keys {
				c, known := s.claims[k.Lease]
				if !known || c.Grant != k.Number || !c.leased() || !c.Lease.After(now) || !changes(c) {
					continue
				}
				if err := f.touch(s, c.Queue); err != nil {
					return err
				}
				changed := *c
				changed.Lease = until
				claims = append(claims, changed)
			}
			return nil
		}
		if err := set(done.Renewed, done.Until, func(c *Claim) bool { return done.Until.After(c.Lease) }); err != nil {
			return nil, err
		}
		if err := set(done.Refused, now, func(*Claim) bool { return true }); err != nil {
			return nil, err
		}
		apply, err := f.saveClaims(txn, s, claims, nil)
		return func() {
			apply()
			for _, lease := range released {
				delete(s.journal, lease)
			}
		}, err
	})
}

// Leases lists the leases of a crawl that may be out, be asked for, or be on their way back.
func (f *Frontier) Leases(name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(name)
	if err != nil {
		return nil, err
	}
	leases := slices.Collect(maps.Keys(s.claims))
	for lease := range s.journal {
		if s.claims[lease] == nil {
			leases = append(leases, lease)
		}
	}
	slices.Sort(leases)
	return leases, nil
}

// LeaseUntil tells until when a claim's lease lasts; the zero time if it has none.
func (f *Frontier) LeaseUntil(name, claim string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, err := f.get(name); err == nil {
		if c, known := s.claims[claim]; known && c.leased() {
			return c.Lease
		}
	}
	return time.Time{}
}

// EndLease says that a claim's fetching has ended: its lease goes into the journal of releases, if it still has it,
// and its hosts rest.
func (f *Frontier) EndLease(name, claim string, end LaneEnd) error {
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
		fails, unread := 0, end.Unread
		if end.Unreachable {
			fails = q.fails + 1
		}
		pace, delay := q.paced(c, latest(end.Host, f.opts.Now())), max(q.delay, end.Delay)
		m := q.meta()
		m.Next, m.Fails, m.Unread, m.Pace, m.Delay = millis(end.Host), fails, unread, pace.Milliseconds(), delay.Milliseconds()
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(txn, c.Queue, m); err != nil {
			return nil, err
		}
		var releases []Release
		if c.leased() {
			releases = []Release{c.release(end.Address, end.Host)}
		} else if !c.Reading.IsZero() { // its lease went before, with a host that was to rest as long as an answer may take
			corrected := c.release(s.journal[c.ID].Next, end.Host)
			corrected.Host, corrected.HostNext = c.PLD, end.Host
			releases = []Release{corrected}
		}
		rests := map[uint64]time.Time{c.Queue: end.Host}
		f.unreturned(s, c, rests)
		ended.Borrowed = nil
		rest, err := f.restHosts(txn, rests)
		if err != nil {
			return nil, err
		}
		apply, err := f.saveClaims(txn, s, []Claim{ended}, releases)
		return func() {
			q.next, q.fails, q.unread, q.pace, q.delay = end.Host, fails, unread, pace, delay
			apply()
			rest()
		}, err
	})
}

// Owe notes what is owed to the host of a claim whose fetching goes on, or was cut off.
func (f *Frontier) Owe(name, claim string, end LaneEnd) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		c, known := s.claims[claim]
		if !known || c.Ended || !end.Host.After(c.Owed) && end.Delay <= c.Delay {
			f.mu.Unlock()
			return nil, nil
		}
		owing := *c
		owing.Owed, owing.Delay = latest(c.Owed, end.Host), max(c.Delay, end.Delay)
		q := s.queue(c.Queue, c.PLD)
		m := q.meta()
		delay := max(q.delay, end.Delay)
		m.Delay = delay.Milliseconds()
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(txn, c.Queue, m); err != nil {
			return nil, err
		}
		rest, err := f.restHost(txn, c.Queue, owing.Owed)
		if err != nil {
			return nil, err
		}
		apply, err := f.saveClaims(txn, s, []Claim{owing}, nil)
		return func() {
			q.delay = delay
			apply()
			rest()
		}, err
	})
}

// Yield gives the lease of a claim back while an answer is still read, at most until a time: its address may be
// asked again from next on, its hosts not before the claim has ended. It asks nothing more.
func (f *Frontier) Yield(name, claim string, next, until time.Time) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		c, known := s.claims[claim]
		if !known || !c.leased() {
			f.mu.Unlock()
			return nil, nil
		}
		reading := *c
		reading.Reading = until
		f.mu.Unlock()
		if err := f.touch(s, c.Queue); err != nil {
			return nil, err
		}
		return f.saveClaims(txn, s, []Claim{reading}, []Release{c.release(next, until)})
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
	return f.update(func(txn *badger.Txn) (func(), error) {
		f.mu.Lock()
		err := f.awake(s) // it may have fallen asleep since
		f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return do(s, txn)
	})
}

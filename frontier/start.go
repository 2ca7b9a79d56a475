package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// hearsay is how long a rest counts that another worker has said of a host: it may correct it, as after a slow answer, and
// whoever asks for the next lease is given it again.
const hearsay = 30 * time.Second

// maxIdle is how long an address may be held for a host that rests: a claim that comes for longer gives its lease back.
const maxIdle = 2 * time.Second

// Start binds granted claims to a batch, each once, however often it was granted; those that are gone meanwhile are left
// out, and their leases released. The times of grants are by the worker's clock (politeness.Clock.Local). It is idempotent.
func (h Batch) Start(grants []politeness.Grant) ([]Claim, error) {
	return h.take(grants, false)
}

// Lease gives claims of a batch the leases that it asked for itself, for lanes that go on.
func (h Batch) Lease(grants []politeness.Grant) error {
	_, err := h.take(grants, true)
	return err
}

// take binds granted claims to a batch, which has asked for them itself or is new.
func (h Batch) take(grants []politeness.Grant, asked bool) (claims []Claim, err error) {
	nonce := newNonce()
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		claims = claims[:0]
		var gone []Release
		var again []string                         // leases that were released before and must not be now
		seen := make(map[string]bool, len(grants)) // a claim that came twice would be two lanes to one host
		var late []*Claim                          // that another crawl was faster than
		rests := map[uint64]time.Time{}            // of hosts, that other workers know
		delays, err := h.f.crawlDelays(s, grants)  // a claim may have waited for long
		if err != nil {
			return nil, err
		}
		h.f.mu.Lock()
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
			if c.Batch != "" && c.Batch != h.id {
				continue // the other batch has the lease
			}
			if err := errors.Join(tx.touch(s, c.Queue), tx.touch(nil, c.Queue)); err != nil {
				h.f.mu.Unlock()
				return nil, err
			}
			started := *c
			mine := c.Batch == h.id
			if mine && g.Number <= c.Grant { // this very grant has been taken
				claims = append(claims, started)
				continue
			}
			if mine && !c.leased() && !asked { // its round was asked for twice: the lane has ended under the first grant
				gone = append(gone, s.unwanted(g))
				continue
			}
			now := h.f.opts.Now()
			from := g.NotBefore
			if g.HostNotBefore.After(now) {
				rests[c.Queue] = times.Latest(rests[c.Queue], now.Add(min(g.HostNotBefore.Sub(now), hearsay)))
			}
			if rest := times.Latest(h.f.hosts.next[c.Queue], g.HostNotBefore); rest.After(now) { // what has passed is forgotten some time, by a restart too
				from = times.Latest(from, rest)
			}
			idle := c.Batch == "" && from.After(times.Latest(g.NotBefore, now).Add(maxIdle))
			atWork := mine && c.leased() && c.Lease.After(now) // the grant only confirms its lease
			if !atWork && (idle || h.f.hosts.elsewhere(s, c.Queue).After(now)) {
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
				s.joinLife(&started, h.id, nonce)
			}
			started.Batch, started.Lease, started.NotBefore, started.Ended = h.id, g.Deadline, from, false
			started.Reading, started.Grant, started.Delay = time.Time{}, g.Number, max(c.Delay, delays[c.Queue])
			started.Deadline = h.f.opts.Now().Add(h.f.opts.ClaimTTL)
			claims = append(claims, started)
		}
		h.f.mu.Unlock()
		apply, err := h.f.saveClaims(tx, s, claims, gone)
		if err != nil {
			return nil, err
		}
		drop, err := h.f.dropClaims(tx, s, late)
		if err != nil {
			return nil, err
		}
		rest, err := h.f.restHosts(tx, rests)
		if err != nil {
			return nil, err
		}
		for _, lease := range again {
			if err := tx.Delete(s.keys.Release(lease)); err != nil {
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
func (f *Frontier) crawlDelays(s *state, grants []politeness.Grant) (map[uint64]time.Duration, error) {
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
func (s *state) unwanted(g politeness.Grant) Release {
	r := s.journal[g.Lease]
	r.Lease, r.IP, r.Number = g.Lease, g.IP, g.Number
	return r
}

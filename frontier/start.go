package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// Start binds granted claims to a batch, each once, however often it was granted; those that are gone meanwhile are left
// out, and their leases released. The times of grants are by the worker's clock (politeness.Clock.Local). It is idempotent.
func (h Batch) Start(grants []politeness.Grant) ([]Claim, error) {
	return h.take(grants, claims.RoundAsked)
}

// Lease gives claims of a batch the leases that it asked for itself, for lanes that continue.
func (h Batch) Lease(grants []politeness.Grant) error {
	_, err := h.take(grants, claims.BatchAsked)
	return err
}

// take binds granted claims to a batch, and returns them.
func (h Batch) take(grants []politeness.Grant, by claims.Asker) (taken []Claim, err error) {
	grants, nonce := politeness.Distinct(grants), newNonce(false) // a claim that came twice would be two lanes to one host
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		delays, err := h.f.crawlDelays(s, grants) // a claim may have waited for long
		if err != nil {
			return nil, err
		}
		var all claims.Change
		h.f.mu.Lock()
		for _, grant := range grants {
			g := claims.Grant{Grant: grant, Batch: h.id, Asker: by, Fresh: s.newLife(nonce)}
			if c := s.claims.Get(grant.Lease); c != nil {
				if err = errors.Join(err, tx.touch(s, c.Queue), tx.touch(nil, c.Queue)); err != nil {
					break
				}
				g.HostRest, g.Elsewhere, g.Delay = h.f.hosts.next[c.Queue], h.f.hosts.elsewhere(s, c.Queue), delays[c.Queue]
			}
			all.Add(s.claims.Grant(g, s.terms()))
		}
		h.f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		taken = all.Claims
		return h.f.saveClaims(tx, s, all)
	})
	return taken, err
}

// crawlDelays are the longest Crawl-delays that are known of the hosts of claims.
func (f *Frontier) crawlDelays(s *state, grants []politeness.Grant) (map[uint64]time.Duration, error) {
	delays := map[uint64]time.Duration{}
	f.mu.Lock()
	for _, g := range grants {
		if c := s.claims.Get(g.Lease); c != nil {
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

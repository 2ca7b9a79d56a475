package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// Start binds granted claims to a batch, each once, however often it was granted; those that are gone meanwhile are left
// out, and their leases released. The times of grants are by the worker's clock (politeness.Clock.Local). It is idempotent.
func (h Batch) Start(grants []politeness.Grant) ([]Claim, error) {
	return h.take(grants, roundAsked)
}

// Lease gives claims of a batch the leases that it asked for itself, for lanes that go on.
func (h Batch) Lease(grants []politeness.Grant) error {
	_, err := h.take(grants, batchAsked)
	return err
}

// take binds granted claims to a batch.
func (h Batch) take(grants []politeness.Grant, by asker) (claims []Claim, err error) {
	grants, nonce := politeness.Distinct(grants), newNonce() // a claim that came twice would be two lanes to one host
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		b := binding{f: h.f, s: s, batch: h.id, nonce: nonce, now: h.f.opts.Now(), rests: map[uint64]time.Time{}}
		if b.delays, err = h.f.crawlDelays(s, grants); err != nil { // a claim may have waited for long
			return nil, err
		}
		h.f.mu.Lock()
		for _, g := range grants {
			if err := b.add(tx, g, by); err != nil {
				h.f.mu.Unlock()
				return nil, err
			}
		}
		h.f.mu.Unlock()
		claims = b.claims
		return b.save(tx)
	})
	return claims, err
}

// binding is what the grants of a batch change, one after the other.
type binding struct {
	f      *Frontier
	s      *state
	batch  string
	nonce  string // of a new life of the batch
	now    time.Time
	delays map[uint64]time.Duration // Crawl-delays

	claims []Claim
	gone   []Release // of grants that nobody makes use of
	late   []*Claim
	rests  map[uint64]time.Time // of hosts, that other workers have reported
	leased []string             // leases that were released before and must not be now
}

// add applies the verdict on one grant; Frontier.mu is held.
func (b *binding) add(tx *transaction, grant politeness.Grant, by asker) error {
	g := granted{Grant: grant, batch: b.batch, asker: by, now: b.now, claim: b.s.claims[grant.Lease]}
	if c := g.claim; c != nil {
		if err := errors.Join(tx.touch(b.s, c.Queue), tx.touch(nil, c.Queue)); err != nil {
			return err
		}
		g.hostRest, g.elsewhere = b.f.hosts.next[c.Queue], b.f.hosts.elsewhere(b.s, c.Queue)
	}
	out := bindGrant(g)
	if !out.rest.IsZero() {
		b.rests[g.claim.Queue] = times.Latest(b.rests[g.claim.Queue], out.rest)
	}
	switch out.verdict {
	case grantKept:
		b.claims = append(b.claims, *g.claim)
	case grantTaken:
		b.claims = append(b.claims, b.take(g, out.notBefore))
	case grantLate:
		b.late = append(b.late, g.claim)
		b.gone = append(b.gone, b.s.unwanted(grant))
	case grantReleased:
		b.gone = append(b.gone, b.s.unwanted(grant))
	}
	return nil
}

// take returns the claim of a grant with its lease.
func (b *binding) take(g granted, notBefore time.Time) Claim {
	c := *g.claim
	if c.Batch == "" {
		b.s.joinLife(&c, b.batch, b.nonce)
	}
	c.Batch, c.Lease, c.NotBefore, c.Ended = b.batch, g.Deadline, notBefore, false
	c.Reading, c.Grant, c.Delay = time.Time{}, g.Number, max(c.Delay, b.delays[c.Queue])
	c.Deadline = b.now.Add(b.f.opts.ClaimTTL)
	if _, released := b.s.journal[c.ID]; released {
		b.leased = append(b.leased, c.ID)
	}
	return c
}

// save writes what the grants have changed.
func (b *binding) save(tx *transaction) (func(), error) {
	save, err := b.f.saveClaims(tx, b.s, b.claims, b.gone)
	if err != nil {
		return nil, err
	}
	drop, err := b.f.dropClaims(tx, b.s, b.late)
	if err != nil {
		return nil, err
	}
	rest, err := b.f.restHosts(tx, b.rests)
	if err != nil {
		return nil, err
	}
	for _, lease := range b.leased {
		if err := tx.Delete(b.s.keys.Release(lease)); err != nil {
			return nil, err
		}
	}
	return func() {
		save()
		rest()
		drop()
		for _, lease := range b.leased {
			delete(b.s.journal, lease)
		}
	}, nil
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

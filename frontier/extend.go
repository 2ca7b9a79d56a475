package frontier

import (
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// Extend adds requisites of a page to the claim that has fetched it, at most so many, and returns those that are to be fetched with it: they are in
// the scope and of the claim's queue, and no run has asked for them, nor another claim. They are queued and claimed on disk before it returns: a batch that
// starts again has them among its URLs. What is left out the commit of the page offers, as ever.
func (h Lane) Extend(found []crawl.Discovery, most int) (targets []crawl.Target, err error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return nil, err
	}
	bound := s.scope
	c, held := h.extendable(s)
	h.f.mu.Unlock()
	if !held || len(found) == 0 || most <= 0 {
		return nil, nil
	}
	links, _ := gather(bound, found, false)
	links = slices.DeleteFunc(links, func(o *offered) bool {
		return o.key.PLD != c.Queue || !o.requisite() || slices.Contains(c.URLs, o.key.URL)
	})
	err = h.f.store.View(func(txn store.Reader) (err error) {
		links = slices.DeleteFunc(links, func(o *offered) bool {
			r, known, errRead := txn.Record(s.keys.Record(o.key))
			if err == nil {
				err = errRead
			}
			return known && (r.State == record.Banned || r.Run == s.Run && r.State != record.Waiting)
		})
		return err
	})
	if err != nil || len(links) == 0 { // as of most pages: others have brought what they embed
		return nil, err
	}
	links = links[:min(len(links), most)]
	err = h.f.update(func(tx *transaction) (func(), error) {
		targets = nil
		if err := tx.touch(s, c.Queue); err != nil {
			return nil, err
		}
		h.f.mu.Lock()
		now, held := h.extendable(s)
		h.f.mu.Unlock()
		if !held || s.check(h.f, ring.Fetch, now.Queue, now.Epoch) != nil {
			return nil, nil
		}
		e := h.f.edit(tx, s)
		added := now
		added.URLs = nil
		for _, o := range links {
			if err := e.offer(o); err != nil {
				return nil, err
			}
			if !slices.Contains(now.URLs, o.key.URL) {
				added.URLs = append(added.URLs, o.key.URL)
			}
		}
		if targets, err = h.f.targets(tx, s, &added); err != nil {
			return nil, err
		}
		now.URLs, now.Requisites = append(slices.Clone(now.URLs), added.URLs...), now.Requisites+added.Requisites
		save, err := h.f.saveClaims(tx, s, claims.Change{Claims: []Claim{now}})
		if err != nil {
			return nil, err
		}
		return e.finish(nil, save)
	})
	return targets, err
}

// extendable is the claim, if it may still be extended: it has its lease. Frontier.mu is held.
func (h Lane) extendable(s *state) (Claim, bool) {
	c := s.claims.Get(h.claim)
	if c == nil || c.Batch == "" || !c.Leased() {
		return Claim{}, false
	}
	return *c, true
}

// Targets are the URLs of the claim as they stand, those among them by which it was extended.
func (h Lane) Targets() (targets []crawl.Target, err error) {
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		held := s.claims.Get(h.claim)
		var c Claim
		if held != nil {
			c = *held
		}
		h.f.mu.Unlock()
		if held == nil {
			targets = nil
			return nil, nil
		}
		targets, err = h.f.targets(tx, s, &c)
		return nil, err
	})
	return targets, err
}

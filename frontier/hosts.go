package frontier

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// hosts is what the crawls of a worker share: when each host may be asked again, and who asks it. It goes by PLD,
// as queues do.
//
// Invariant: a host is asked by one claim at a time, and not before the time that the claim before it has left,
// whatever crawl and address they are of. Leases cannot see to that: a host may have several addresses.
// Frontier.mu guards it.
type hosts struct {
	crawls map[string]*state // those of the frontier
	opts   Options
	next   map[uint64]time.Time // on disk too; those that have passed are left out in the end
	claims map[uint64][]claimRef
	swept  int // entries of next that the last sweep left
}

type claimRef struct {
	crawl *state
	id    string
}

// minResting is the number of resting hosts below which none are swept; maxPassed is how many a write sweeps.
const minResting, maxPassed = 64, 1000

func newHosts(crawls map[string]*state, o Options) *hosts {
	return &hosts{crawls: crawls, opts: o, next: map[uint64]time.Time{}, claims: map[uint64][]claimRef{}}
}

// elsewhere is until when others than the claims of a crawl's queue hold a host; the zero time if none does.
func (h *hosts) elsewhere(s *state, pld uint64) (until time.Time) {
	for _, ref := range h.claims[pld] {
		if c := ref.crawl.claims.Get(ref.id); c != nil && (ref.crawl != s || c.Queue != pld) {
			until = times.Latest(until, c.Keeps(pld, ref.crawl.terms()))
		}
	}
	return until
}

// enter notes that a claim is in progress, or has changed.
func (h *hosts) enter(s *state, c *Claim) {
	ref := claimRef{s, c.ID}
	for _, pld := range c.Asks() {
		if !c.Ended && !slices.Contains(h.claims[pld], ref) {
			h.claims[pld] = append(h.claims[pld], ref)
		} else if c.Ended {
			h.drop(ref, pld)
		}
		h.refreshOthers(s, c, pld)
	}
}

// leave notes that a claim is gone, or asks these hosts alone from now on.
func (h *hosts) leave(s *state, c *Claim, but []uint64) {
	for _, pld := range c.Asks() {
		if !slices.Contains(but, pld) {
			h.drop(claimRef{s, c.ID}, pld)
			h.refreshOthers(s, c, pld)
		}
	}
}

// refreshOthers refreshes all queues of a host but the claim's own.
func (h *hosts) refreshOthers(s *state, c *Claim, pld uint64) {
	if c.Queue == pld {
		h.refresh(s, pld)
	} else {
		h.refresh(nil, pld)
	}
}

func (h *hosts) drop(ref claimRef, pld uint64) {
	if left := slices.DeleteFunc(h.claims[pld], func(r claimRef) bool { return r == ref }); len(left) > 0 {
		h.claims[pld] = left
	} else {
		delete(h.claims, pld)
	}
}

// refresh puts the host's queues where they belong, in all crawls but one; nil for none.
func (h *hosts) refresh(but *state, pld uint64) {
	for _, s := range h.crawls {
		if q, known := s.queues[pld]; known && s != but {
			h.inform(s, q)
			s.schedule.Place(q, h.opts.Now())
		}
	}
}

// inform brings a queue up to what is known of its host.
func (h *hosts) inform(s *state, q *queue.Queue) {
	q.Host = times.Latest(h.next[q.PLD], h.elsewhere(s, q.PLD))
}

// informAll brings the queues of a crawl up to what is known of the hosts that rest or are asked.
func (h *hosts) informAll(s *state) {
	known := func(pld uint64) {
		if q := s.queues[pld]; q != nil {
			h.inform(s, q)
			s.schedule.Place(q, h.opts.Now())
		}
	}
	for pld := range h.next {
		known(pld)
	}
	for pld := range h.claims {
		known(pld)
	}
}

// restHost says, within a mutation, that a host is not asked before a time, by any crawl.
func (f *Frontier) restHost(tx *transaction, pld uint64, until time.Time) (apply func(), err error) {
	if err := tx.touch(nil, pld); err != nil {
		return nil, err
	}
	f.mu.Lock()
	idle := !until.After(f.opts.Now()) || !until.After(f.hosts.next[pld])
	stale := f.hosts.stale(tx.touched)
	f.mu.Unlock()
	if idle {
		return func() {}, nil
	}
	if err := tx.Save(store.Host(pld), record.Host{Next: record.Millis(until)}); err != nil {
		return nil, err
	}
	for _, old := range stale {
		if err := tx.Delete(store.Host(old)); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, old := range stale {
			delete(f.hosts.next, old)
		}
		if len(stale) > 0 {
			f.hosts.swept = len(f.hosts.next)
		}
		f.hosts.next[pld] = until
		f.hosts.refresh(nil, pld)
	}, nil
}

// restHosts does so for several hosts.
func (f *Frontier) restHosts(tx *transaction, rests map[uint64]time.Time) (apply func(), err error) {
	var all []func()
	for _, pld := range slices.Sorted(maps.Keys(rests)) {
		rest, err := f.restHost(tx, pld, rests[pld])
		if err != nil {
			return nil, err
		}
		all = append(all, rest)
	}
	return func() {
		for _, rest := range all {
			rest()
		}
	}, nil
}

// stale lists hosts whose time has passed, once there are twice as many as the last sweep left: so it costs a write
// next to nothing, and the table stays as small as what rests. Hosts that the transaction in progress touches stay.
func (h *hosts) stale(touched map[queueRef]int) (list []uint64) {
	if len(h.next) < 2*h.swept+minResting {
		return nil
	}
	now := h.opts.Now()
	for pld, next := range h.next {
		if _, busy := touched[queueRef{nil, pld}]; !busy && !next.After(now) && len(list) < maxPassed {
			list = append(list, pld)
		}
	}
	return list
}

// loadHosts brings up when hosts may be asked again, and deletes what has passed.
func (f *Frontier) loadHosts() error {
	var stale []store.Key
	err := f.store.View(func(txn store.Reader) error {
		return txn.Scan(store.Keys(0).All(store.Hosts), nil, func(key store.Key, value []byte) (bool, error) {
			var r record.Host
			if err := codec.Unmarshal(value, &r); err != nil {
				return false, fmt.Errorf("open frontier: %w", err)
			}
			if next := time.UnixMilli(r.Next); next.After(f.opts.Now()) {
				f.hosts.next[key.PLD()] = next
			} else {
				stale = append(stale, slices.Clone(key))
			}
			return true, nil
		})
	})
	if err != nil {
		return err
	}
	return f.store.Delete(stale)
}

// Rest says that the host of a URL, which the claim has borrowed, is not asked before a time, by any crawl.
func (h Lane) Rest(at urls.URL, until time.Time) error {
	return h.f.rest(record.KeyOf(at).PLD, until)
}

func (f *Frontier) rest(pld uint64, until time.Time) error {
	return f.update(func(tx *transaction) (func(), error) { return f.restHost(tx, pld, until) })
}

package frontier

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// ErrFull says that the frontier knows as many crawls as it can.
var ErrFull = fmt.Errorf("the frontier knows %d crawls, the most it can: forget some (muninn forget CRAWL)", math.MaxUint16)

// freeID is an ID for a new crawl; the transaction has those that begin in it. The IDs of forgotten crawls are given
// again once the last ones are used up: all that was kept under them is gone. Frontier.mu is held.
func (f *Frontier) freeID(tx *transaction) (store.Keys, error) {
	used := map[store.Keys]bool{0: true}
	for _, crawls := range []map[string]*state{f.crawls, tx.added} {
		for _, s := range crawls {
			used[s.keys] = true
		}
	}
	if len(used) > math.MaxUint16 {
		return 0, ErrFull
	}
	id := max(f.nextID, 1)
	for used[id] {
		id++ // 65,535 is followed by 0, which is used
	}
	return id, nil
}

// Forgotten is what a frontier held of a crawl that it forgets.
type Forgotten struct {
	Crawl   string `json:"crawl"`
	Run     uint32 `json:"run"` // the last
	URLs    int    `json:"urls"`
	Queues  int    `json:"queues"`
	Entries int    `json:"entries"` // of the store, all kinds together
}

// forgetPart is how many entries are deleted in one transaction.
const forgetPart = 5000

// Abandon takes the claims of a run back whose workflow is gone, as it is after a termination: nobody else would. The run is that
// of owner; if another has taken it over, or it has ended, Abandon returns ErrBusy. It returns the releases that politeness has
// not confirmed, which are to be sent before the crawl is forgotten. The run stays one that has not ended.
func (h Claims) Abandon(owner string) (releases []EndedLease, err error) {
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		if rec := h.f.draft(tx, s); !rec.Active || rec.Owner != owner {
			return nil, fmt.Errorf("%w: %s belongs to %s", ErrBusy, h.crawl, rec.Owner)
		}
		h.f.mu.Lock()
		ch := s.claims.Drop(slices.Collect(s.claims.All()), s.terms())
		h.f.mu.Unlock()
		drop, err := h.f.saveClaims(tx, s, ch)
		return func() {
			drop()
			releases = s.claims.Releases()
		}, err
	})
	return releases, err
}

// Batches are those of a crawl that have claims.
func (h Claims) Batches() ([]string, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	return s.claims.Batches(), nil
}

// Forget deletes all that the frontier keeps of a crawl; what lies in archives stays. A crawl that runs is not forgotten:
// ErrBusy, unless gone is the owner of the run and nothing of it is in progress, see Abandon. With dry, it is only counted, a crawl that
// runs as well. Cut off, it is begun again by the next call.
func (f *Frontier) Forget(name, gone string, dry bool) (Forgotten, error) {
	f.mu.Lock()
	s, known := f.crawls[name]
	if !known {
		f.mu.Unlock()
		return Forgotten{}, fmt.Errorf("%w: %s", ErrNoCrawl, name)
	}
	out := Forgotten{Crawl: name, Run: s.Run}
	var busy error
	if s.Active && s.Owner != gone || s.claims.Len() > 0 || s.forgetting {
		busy = fmt.Errorf("%w: %s", ErrBusy, name)
	}
	if !dry && busy == nil {
		s.forgetting = true // nothing of it is written from now on
	}
	f.mu.Unlock()
	if dry {
		return out, errors.Join(f.countEntries(s.keys, &out), busy)
	}
	if busy != nil {
		return out, busy
	}
	err := f.deleteCrawl(s, &out)
	if err != nil {
		f.mu.Lock()
		s.forgetting = false
		f.mu.Unlock()
	}
	return out, err
}

// countEntries counts what the frontier keeps of a crawl.
func (f *Frontier) countEntries(keys store.Keys, out *Forgotten) error {
	for _, kind := range store.OfCrawls() {
		n, err := f.entries(keys.All(kind))
		if err != nil {
			return err
		}
		switch out.Entries += n; kind {
		case store.Records:
			out.URLs = n
		case store.Queues:
			out.Queues = n
		}
	}
	return nil
}

// deleteCrawl counts and deletes it.
func (f *Frontier) deleteCrawl(s *state, out *Forgotten) error {
	if err := f.countEntries(s.keys, out); err != nil {
		return err
	}
	for _, kind := range store.OfCrawls() {
		for more := true; more; {
			err := f.update(func(tx *transaction) (func(), error) {
				deleted, err := tx.DeleteFirst(s.keys.All(kind), forgetPart)
				more = deleted == forgetPart
				return nil, err
			})
			if err != nil {
				return err
			}
		}
	}
	return f.update(func(tx *transaction) (func(), error) {
		if tx.drafts[s] != nil { // which would be written behind this
			return nil, errTogether
		}
		return func() { delete(f.crawls, s.Name) }, tx.Delete(store.Crawl(s.Name))
	})
}

// forgotten refuses to write to a crawl that is being forgotten, or was: its ID may be another's. Frontier.mu is held.
func (s *state) forgotten() error {
	if s.forgetting {
		return fmt.Errorf("%w: %s is being forgotten", ErrBusy, s.Name)
	}
	return nil
}

// entries counts the entries under a prefix.
func (f *Frontier) entries(under store.Key) (n int, err error) {
	err = f.store.View(func(txn store.Reader) error {
		return txn.Keys(under, func(store.Key) (bool, error) {
			n++
			return true, nil
		})
	})
	return n, err
}

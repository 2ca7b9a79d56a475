package frontier

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
)

// ErrFull says that the frontier knows as many crawls as it can.
var ErrFull = fmt.Errorf("the frontier knows %d crawls, the most it can: forget some (muninn forget CRAWL)", math.MaxUint16)

// freeID is an ID for a new crawl; f.born has those that begin in the same transaction. The IDs of forgotten crawls are given
// again once the last ones are used up: all that was kept under them is gone. Frontier.mu is held.
func (f *Frontier) freeID() (uint16, error) {
	used := map[uint16]bool{0: true}
	for _, crawls := range []map[string]*state{f.crawls, f.born} {
		for _, s := range crawls {
			used[s.id] = true
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

// kindsOfCrawls are the kinds of keys that a crawl has under its ID.
var kindsOfCrawls = []byte{
	kindPlan, kindRecord, kindQueue, kindMeta, kindClaim, kindBatch, kindRelease, kindDelayed, kindDigest, kindSample, kindSite,
	kindLesson, kindTrail, kindSum, kindMemory, kindEnded, kindPrint,
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

// Forget deletes all that the frontier keeps of a crawl; what lies in archives stays. A crawl that runs is not forgotten:
// ErrBusy. With dry, it is only counted. Cut off, it is begun again by the next call.
func (f *Frontier) Forget(name string, dry bool) (Forgotten, error) {
	f.mu.Lock()
	s, known := f.crawls[name]
	if !known {
		f.mu.Unlock()
		return Forgotten{}, fmt.Errorf("%w: %s", ErrNoCrawl, name)
	}
	out := Forgotten{Crawl: name, Run: s.Run}
	busy := s.Active || len(s.claims) > 0 || s.forgetting
	s.forgetting = s.forgetting || !busy && !dry // no run begins from now on
	f.mu.Unlock()
	if busy {
		return out, fmt.Errorf("%w: %s", ErrBusy, name)
	}
	if !dry {
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			s.forgetting = false
		}()
	}
	for _, kind := range kindsOfCrawls {
		n, err := f.entries(kind, s.id)
		if err != nil {
			return out, err
		}
		switch out.Entries += n; kind {
		case kindRecord:
			out.URLs = n
		case kindMeta:
			out.Queues = n
		}
	}
	if dry {
		return out, nil
	}
	for _, kind := range kindsOfCrawls {
		for more := true; more; {
			err := f.update(func(txn *badger.Txn) (_ func(), err error) {
				more, err = deleteSome(txn, prefix(kind, s.id), forgetPart)
				return nil, err
			})
			if err != nil {
				return out, err
			}
		}
	}
	return out, f.update(func(txn *badger.Txn) (func(), error) {
		if f.drafts[s] != nil { // which would be written behind this
			return nil, errTogether
		}
		return func() { delete(f.crawls, name) }, txn.Delete(append([]byte{kindCrawl}, name...))
	})
}

// entries counts the entries of a kind.
func (f *Frontier) entries(kind byte, id uint16) (n int, err error) {
	err = f.view(func(txn *badger.Txn) error {
		return scan(txn, prefix(kind, id), nil, false, func([]byte, []byte) (bool, error) {
			n++
			return true, nil
		})
	})
	return n, err
}

// deleteSome deletes the first entries under a prefix; more tells that there are others.
func deleteSome(txn *badger.Txn, under []byte, most int) (more bool, err error) {
	var keys [][]byte
	err = scan(txn, under, nil, false, func(key, _ []byte) (bool, error) {
		keys = append(keys, append([]byte(nil), key...))
		return len(keys) < most, nil
	})
	return len(keys) == most, errors.Join(err, deleteAll(txn, keys, nil))
}

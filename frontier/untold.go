package frontier

import (
	"encoding/binary"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Untold is a URL that ended without a page, and without a batch: its host has no address, or one that must not be asked.
// The frontier keeps it until the archive tells of it.
type Untold struct {
	URL     string    `cbor:"1,keyasint"`
	Kind    string    `cbor:"2,keyasint"`
	Reason  string    `cbor:"3,keyasint"`
	Via     string    `cbor:"4,keyasint,omitempty"`
	Path    string    `cbor:"5,keyasint"`
	Attempt int       `cbor:"6,keyasint"`
	At      time.Time `cbor:"7,keyasint"`
}

// untold keeps the outcomes of URLs that have ended, for the archive.
func (f *Frontier) untold(txn *badger.Txn, s *state, rec *crawlRecord, outcomes []crawl.Outcome, failed []queuedURL) error {
	for i, o := range outcomes {
		if o.Kind == crawl.OutcomeReturned {
			continue
		}
		r := failed[i].rec
		u := Untold{o.URL, o.Kind, o.Reason, "", r.path, int(r.attempts) + 1, f.opts.Now().UTC()}
		if r.via != (urlKey{}) {
			via, _, err := getRecord(txn, recordKey(s.id, r.via))
			if err != nil {
				return err
			}
			u.Via = via.url
		}
		rec.Sequence++
		if err := setCBOR(txn, untoldKey(s.id, rec.Sequence), u); err != nil {
			return err
		}
	}
	return nil
}

func untoldKey(id uint16, n int64) []byte {
	return binary.BigEndian.AppendUint64(prefix(kindUntold, id), uint64(n))
}

// Untold returns the first URLs that ended without a batch and are not told of yet, at most a number; first is the number
// of the first of them, the same until it is told.
func (f *Frontier) Untold(name string, most int) (list []Untold, first int64, err error) {
	f.mu.Lock()
	s, err := f.get(name)
	f.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	err = f.view(func(txn *badger.Txn) error {
		return scan(txn, prefix(kindUntold, s.id), nil, true, func(key, value []byte) (bool, error) {
			var u Untold
			if err := decoding.Unmarshal(value, &u); err != nil {
				return false, err
			}
			if len(list) == 0 {
				first = int64(binary.BigEndian.Uint64(key[3:]))
			}
			list = append(list, u)
			return len(list) < most, nil
		})
	})
	return list, first, err
}

// Told says that the archive tells of the first n of what Untold returned.
func (f *Frontier) Told(name string, n int) error {
	return f.withCrawl(name, func(s *state, txn *badger.Txn) (func(), error) {
		var keys [][]byte
		err := scan(txn, prefix(kindUntold, s.id), nil, false, func(key, _ []byte) (bool, error) {
			if len(keys) == n {
				return false, nil
			}
			keys = append(keys, append([]byte(nil), key...))
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if err := txn.Delete(key); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

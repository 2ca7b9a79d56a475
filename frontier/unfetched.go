package frontier

import (
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Unfetched is a URL that ended without a page, and without a batch: its host has no address, or one that must not be asked.
// The frontier keeps it until the crawl log in the archive holds it.
type Unfetched struct {
	URL     string            `cbor:"1,keyasint"`
	Kind    crawl.OutcomeKind `cbor:"2,keyasint"`
	Reason  string            `cbor:"3,keyasint"`
	Via     string            `cbor:"4,keyasint,omitempty"`
	Path    string            `cbor:"5,keyasint"`
	Attempt int               `cbor:"6,keyasint"`
	At      time.Time         `cbor:"7,keyasint"`
}

// keepUnfetched keeps the outcome of a URL that has ended, for the archive.
func (e *edit) keepUnfetched(o crawl.PageOutcome, r record.Record) error {
	u := Unfetched{o.URL, o.Kind, o.Reason, r.Via, r.Path, int(r.Attempts) + 1, e.f.opts.Now().UTC()}
	e.rec.Sequence++
	return e.Save(e.s.keys.Unfetched(e.rec.Sequence), u)
}

// Unfetched returns the first URLs that ended without a batch and are not reported yet, at most a number; first is the number
// of the first of them, the same until it is reported.
func (h URLs) Unfetched(most int) (list []Unfetched, first int64, err error) {
	s, err := h.state()
	if err != nil {
		return nil, 0, err
	}
	err = h.f.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.All(store.Unfetched), nil, func(key store.Key, value []byte) (bool, error) {
			var u Unfetched
			if err := codec.Unmarshal(value, &u); err != nil {
				return false, err
			}
			if len(list) == 0 {
				first = int64(key.Number())
			}
			list = append(list, u)
			return len(list) < most, nil
		})
	})
	return list, first, err
}

// Reported says that the archive holds the first n of what Unfetched returned.
func (h URLs) Reported(n int) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		_, err := tx.DeleteFirst(s.keys.All(store.Unfetched), n)
		return nil, err
	})
}

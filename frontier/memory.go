package frontier

import (
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// Remember keeps what a crawl remembers of its pages beside what its order has learned, in place of what it remembered before.
func (h Learning) Remember(raw []byte) error {
	h.f.remembering.Lock()
	defer h.f.remembering.Unlock()
	s, err := h.state()
	if err != nil {
		return err
	}
	var former store.Parts
	err = h.f.store.View(func(txn store.Reader) (err error) {
		former, err = txn.PartsUnder(s.keys.All(store.Memories))
		return err
	})
	if err != nil {
		return err
	}
	return h.f.keepParts(s.keys.All(store.Memories), former.Number+1, raw, func(tx *transaction) (func(), error) { return nil, nil })
}

// Memory is what Remember has kept; nil if it was nothing.
func (h Learning) Memory() (raw []byte, err error) {
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	err = h.f.store.View(func(txn store.Reader) (err error) {
		_, raw, err = txn.ReadParts(s.keys.All(store.Memories))
		return err
	})
	return raw, err
}

// keepParts keeps a text under a prefix in place of the former one, together with what more is written. A part is a transaction.
func (f *Frontier) keepParts(under store.Key, number uint64, raw []byte, more mutation) error {
	parts := 0
	for part := range slices.Chunk(raw, store.PartBytes) {
		err := f.update(func(tx *transaction) (func(), error) { return nil, tx.SetPart(under, number, parts, part) })
		if err != nil {
			return err
		}
		parts++
	}
	return f.update(func(tx *transaction) (func(), error) {
		if err := tx.SetParts(under, number, parts); err != nil {
			return nil, err
		}
		return more(tx)
	})
}

package frontier

import (
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// Remember keeps what a crawl remembers of its pages beside what its order has learned, in place of what it remembered before.
func (f *Frontier) Remember(name string, raw []byte) error {
	f.remembering.Lock()
	defer f.remembering.Unlock()
	keys, err := f.keysOf(name)
	if err != nil {
		return err
	}
	var former store.Parts
	err = f.store.View(func(txn store.Reader) (err error) {
		former, err = txn.PartsUnder(keys.All(store.Memories))
		return err
	})
	if err != nil {
		return err
	}
	return f.keepParts(keys.All(store.Memories), former.Number+1, raw, func(tx *transaction) (func(), error) { return nil, nil })
}

// Memory is what Remember has kept; nil if it was nothing.
func (f *Frontier) Memory(name string) (raw []byte, err error) {
	keys, err := f.keysOf(name)
	if err != nil {
		return nil, err
	}
	err = f.store.View(func(txn store.Reader) (err error) {
		_, raw, err = txn.ReadParts(keys.All(store.Memories))
		return err
	})
	return raw, err
}

func (f *Frontier) keysOf(name string) (store.Keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(name)
	if err != nil {
		return 0, err
	}
	return s.keys, nil
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

package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/codec"
)

// Reader reads one state of the store.
type Reader struct {
	txn    *badger.Txn
	recent *recent
	after  uint64 // commits that the state has, see recent
	keeps  bool   // it is a transaction's
}

// Get calls read with the value of a key, if there is one. The bytes are valid until read returns.
func (r Reader) Get(key Key, read func(value []byte) error) (found bool, err error) {
	item, err := r.item(key)
	if item == nil || err != nil {
		return false, err
	}
	return true, item.Value(read)
}

// item is nil if there is no such key.
func (r Reader) item(key Key) (*badger.Item, error) {
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read frontier: %w", err)
	}
	return item, nil
}

// Has reports whether there is a key.
func (r Reader) Has(key Key) (bool, error) {
	return r.Get(key, func([]byte) error { return nil })
}

// Load decodes the value of a key, which Save has written.
func (r Reader) Load(key Key, into any) (found bool, err error) {
	return r.Get(key, func(value []byte) error { return codec.Unmarshal(value, into) })
}

// Record reads the record of a URL.
func (r Reader) Record(key Key) (rec record.Record, found bool, err error) {
	read := func(value []byte) (err error) {
		rec, err = record.Decode(value)
		return err
	}
	k, is := ofRecord(key)
	if found, err := r.recent.get(k, r.after, read); found {
		return rec, true, err
	}
	item, err := r.item(key)
	if item == nil || err != nil {
		return rec, false, err
	}
	err = item.Value(func(value []byte) error {
		// what the transaction has written itself has the version of its snapshot
		if is && r.keeps && item.Version() < r.txn.ReadTs() {
			r.recent.keep(k, value, r.after)
		}
		return read(value)
	})
	return rec, true, err
}

// Scan calls fn with each key under a prefix and its value, in their order, until fn returns false; nil for from begins with the
// first. What fn gets is valid until it returns.
func (r Reader) Scan(under, from Key, fn func(key Key, value []byte) (more bool, err error)) error {
	return r.scan(under, from, func(item *badger.Item) (more bool, err error) {
		err = item.Value(func(value []byte) (err error) {
			more, err = fn(item.Key(), value)
			return err
		})
		return more, err
	})
}

// Keys calls fn with each key under a prefix, as Scan does, and reads no values.
func (r Reader) Keys(under Key, fn func(key Key) (more bool, err error)) error {
	return r.scan(under, nil, func(item *badger.Item) (bool, error) { return fn(item.Key()) })
}

func (r Reader) scan(under, from Key, fn func(item *badger.Item) (more bool, err error)) error {
	o := badger.DefaultIteratorOptions
	// Values lie beside their keys. To fetch them ahead, Badger would start a goroutine for each, and for a hundred where few are read.
	o.Prefix, o.PrefetchValues = under, false
	it := r.txn.NewIterator(o)
	defer it.Close()
	if from == nil {
		from = under
	}
	for it.Seek(from); it.ValidForPrefix(under); it.Next() {
		if len(under) == 0 && isEnd(it.Item().Key()) {
			continue
		}
		if more, err := fn(it.Item()); err != nil || !more {
			return err
		}
	}
	return nil
}

// Tx is a transaction.
type Tx struct {
	Reader
	db      *badger.DB
	changes *changing
	wrote   *[]written
}

// Set writes a value; both stay as they are until the transaction has ended. ErrTooBig if the transaction cannot take it.
func (tx Tx) Set(key Key, value []byte) error {
	tx.note(key, value)
	return tx.txn.Set(key, value)
}

// Save writes a value as CBOR.
func (tx Tx) Save(key Key, value any) error {
	raw, err := codec.Marshal(value)
	if err != nil {
		return fmt.Errorf("write frontier: %w", err)
	}
	return tx.Set(key, raw)
}

// Delete deletes a key, if there is one.
func (tx Tx) Delete(key Key) error {
	tx.note(key, nil)
	return tx.txn.Delete(key)
}

// note notes that a key is written, or deleted if value is nil.
func (tx Tx) note(key Key, value []byte) {
	tx.changes.note(key)
	if k, is := ofRecord(key); is {
		tx.recent.drop(k)
		*tx.wrote = append(*tx.wrote, written{k, value})
	}
}

// DeleteFirst deletes the first keys under a prefix, at most a number.
func (tx Tx) DeleteFirst(under Key, most int) (deleted int, err error) {
	keys, err := tx.collect(under, nil, func(_ Key, n int) bool { return n < most })
	return len(keys), errors.Join(err, tx.deleteAll(keys))
}

// DeleteBelow deletes the keys under a prefix that stand before a limit, of those that were there before the transaction.
func (tx Tx) DeleteBelow(under, limit Key) error { return tx.DeleteBetween(under, nil, limit) }

// DeleteBetween deletes those from a key on; nil for from begins with the first. An iterator of the
// transaction itself would first sort all that it has written: of a commit that asks this for each of its partitions, that was half.
func (tx Tx) DeleteBetween(under, from, limit Key) error {
	txn := tx.db.NewTransaction(false)
	defer txn.Discard()
	before := Reader{txn, tx.recent, tx.after, false}
	keys, err := before.collect(under, from, func(key Key, _ int) bool { return bytes.Compare(key, limit) < 0 })
	return errors.Join(err, tx.deleteAll(keys))
}

// collect lists the keys under a prefix, from one on, while it is asked to take them: n were taken before.
func (r Reader) collect(under, from Key, takes func(key Key, n int) bool) (keys []Key, err error) {
	err = r.scan(under, from, func(item *badger.Item) (bool, error) {
		if !takes(item.Key(), len(keys)) {
			return false, nil
		}
		keys = append(keys, slices.Clone(item.Key()))
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

func (tx Tx) deleteAll(keys []Key) error {
	for _, key := range keys {
		if err := tx.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

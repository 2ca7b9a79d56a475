package frontier

import (
	"encoding/binary"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// partBytes bounds the parts in which texts are kept that are too long for one transaction. Values of a megabyte would lie in
// Badger's value log, and stay there.
const partBytes = 512 << 10

// parted tells how a text in parts is kept. Texts that come later have higher numbers.
type parted struct {
	Seq   uint64 `cbor:"1,keyasint"`
	Parts int    `cbor:"2,keyasint"`
}

func partsKey(kind byte, id uint16) []byte { return append(prefix(kind, id), 'm') }

func partKey(kind byte, id uint16, seq uint64, part int) []byte {
	b := binary.BigEndian.AppendUint64(append(prefix(kind, id), 'p'), seq)
	return binary.BigEndian.AppendUint32(b, uint32(part))
}

// keepParts keeps a text in place of former ones of a kind, together with what more is written.
func (f *Frontier) keepParts(kind byte, id uint16, seq uint64, raw []byte, more mutation) error {
	parts := slices.Collect(slices.Chunk(raw, partBytes))
	for i, part := range parts {
		err := f.update(func(tx *transaction) (func(), error) { return nil, tx.Set(partKey(kind, id, seq, i), part) })
		if err != nil {
			return err
		}
	}
	return f.update(func(tx *transaction) (func(), error) {
		if err := setCBOR(tx.Txn, partsKey(kind, id), parted{seq, len(parts)}); err != nil {
			return nil, err
		}
		var old [][]byte
		err := scan(tx.Txn, append(prefix(kind, id), 'p'), nil, false, func(key, _ []byte) (bool, error) {
			if binary.BigEndian.Uint64(key[4:]) >= seq {
				return false, nil
			}
			old = append(old, slices.Clone(key))
			return true, nil
		})
		if err := deleteAll(tx.Txn, old, err); err != nil {
			return nil, err
		}
		return more(tx)
	})
}

// readParts reads the text of a kind; of number 0 there is none.
func readParts(txn *badger.Txn, kind byte, id uint16) (of parted, raw []byte, err error) {
	if _, err := getCBOR(txn, partsKey(kind, id), &of); err != nil {
		return of, nil, err
	}
	for part := range of.Parts {
		_, err := getValue(txn, partKey(kind, id, of.Seq, part), func(b []byte) error { raw = append(raw, b...); return nil })
		if err != nil {
			return of, nil, err
		}
	}
	return of, raw, nil
}

// deleteAll deletes keys, unless they were found with an error.
func deleteAll(txn *badger.Txn, keys [][]byte, err error) error {
	for _, key := range keys {
		if err == nil {
			err = txn.Delete(key)
		}
	}
	return err
}

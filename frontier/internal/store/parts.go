package store

import "encoding/binary"

// PartBytes bounds the parts in which texts are kept that are too long for one transaction. Values of a megabyte would lie in
// Badger's value log, and stay there.
const PartBytes = 512 << 10

// Parts says in which parts a text is kept. Texts that come later have higher numbers.
type Parts struct {
	Number uint64 `cbor:"1,keyasint"`
	Parts  int    `cbor:"2,keyasint"`
}

func headKey(under Key) Key  { return append(under[:len(under):len(under)], 'm') }
func partsKey(under Key) Key { return append(under[:len(under):len(under)], 'p') }

func partKey(under Key, number uint64, part int) Key {
	b := binary.BigEndian.AppendUint64(partsKey(under), number)
	return binary.BigEndian.AppendUint32(b, uint32(part))
}

// SetPart writes a part of a text. Nothing shows it until SetParts.
func (tx Tx) SetPart(under Key, number uint64, part int, text []byte) error {
	return tx.Set(partKey(under, number, part), text)
}

// SetParts puts the text of a number, of which so many parts were written, in place of those of lower numbers.
func (tx Tx) SetParts(under Key, number uint64, parts int) error {
	if err := tx.Save(headKey(under), Parts{number, parts}); err != nil {
		return err
	}
	return tx.DeleteBelow(partsKey(under), partKey(under, number, 0))
}

// PartsUnder returns which text is kept under a prefix; of number 0 there is none.
func (r Reader) PartsUnder(under Key) (of Parts, err error) {
	_, err = r.Load(headKey(under), &of)
	return of, err
}

// ReadParts reads the text that is kept under a prefix.
func (r Reader) ReadParts(under Key) (of Parts, text []byte, err error) {
	if of, err = r.PartsUnder(under); err != nil {
		return of, nil, err
	}
	for part := range of.Parts {
		_, err := r.Get(partKey(under, of.Number, part), func(b []byte) error {
			text = append(text, b...)
			return nil
		})
		if err != nil {
			return of, nil, err
		}
	}
	return of, text, nil
}

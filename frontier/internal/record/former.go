package record

import "github.com/muninn-archive/muninn/internal/codec"

// DecodeFormer reads a record of a store of format 1, in which the page that a URL was found on is a key.
func DecodeFormer(b []byte) (r Record, via Key, err error) {
	c := codec.NewCursor(b)
	head, r := decodeState(&c)
	r.Scores.Count = uint32(c.Uvarint())
	r.Scores.Sum, r.Scores.Max, r.Scores.First, r.Scores.Last = c.Float32(), c.Float32(), c.Float32(), c.Float32()
	via = Key{PLD: c.Uint64(), URL: c.Uint64()}
	r.Path, r.URL = c.Text(), c.Text()
	r.decodeOptional(&c, head)
	if !c.Done() {
		return Record{}, Key{}, errRecord
	}
	return r, via, nil
}

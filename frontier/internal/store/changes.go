package store

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/dgraph-io/badger/v4"
)

// Changes says since when partitions have not been written: a regular export leaves out those that have not changed. Time is
// counted in generations, which begin when somebody says so (Tx.NextGeneration). Of each partition the store keeps the generation in which
// it was written last: the first write of a partition in a generation writes that too, further ones cost a look into a table.
type Changes struct {
	Generation uint64             // the present one; 0: none has begun
	Kept       uint64             // what the last checkpoint was marked with that was kept (Tx.Kept); 0: none
	Written    [Partitions]uint64 // by partition; 0: in no generation that is counted
}

func changesKey() Key { return Key{byte(Written)} }

// keptKey is that of Changes.Kept. A version that does not know it passes it over.
func keptKey() Key { return append(changesKey(), 0xff) }

func writtenKey(p Partition) Key { return binary.BigEndian.AppendUint16(changesKey(), uint16(p)) }

// Changes reads them.
func (r Reader) Changes() (c Changes, err error) {
	err = r.Scan(changesKey(), nil, func(key Key, value []byte) (bool, error) {
		if len(value) != 8 {
			return false, fmt.Errorf("read frontier: key %x has %d bytes", key, len(value))
		}
		n := binary.BigEndian.Uint64(value)
		switch {
		case len(key) == len(changesKey()):
			c.Generation = n
		case len(key) == len(keptKey()):
			c.Kept = n
		case len(key) == len(writtenKey(0)) && binary.BigEndian.Uint16(key[1:]) < Partitions:
			c.Written[binary.BigEndian.Uint16(key[1:])] = n
		}
		return true, nil
	})
	return c, err
}

// changing is what a transaction changes of Changes.
type changing struct {
	partitions [Partitions / 64]uint64 // that it writes, as bits
	next       bool                    // it begins a generation
	kept       uint64                  // a checkpoint with this mark was kept; 0: none
}

// NextGeneration begins a generation: what is written by this transaction or later is of it.
func (tx Tx) NextGeneration() { tx.changes.next = true }

// Kept notes that a checkpoint was kept, by its mark.
func (tx Tx) Kept(mark uint64) { tx.changes.kept = mark }

// movesAlong has the kinds of OfExports, and Moves.
var movesAlong = func() (is [256]bool) {
	for _, kind := range OfExports() {
		is[kind] = true
	}
	return is
}()

// note notes that a key is written or deleted.
func (c *changing) note(key Key) {
	var p uint16
	switch {
	case movesAlong[key[0]] && len(key) >= prefixLen+2:
		p = binary.BigEndian.Uint16(key[prefixLen:]) >> (headBits - partitionBits)
	case Kind(key[0]) == Moves && len(key) == len(Move(0)):
		p = binary.BigEndian.Uint16(key[1:]) % Partitions
	default:
		return
	}
	c.partitions[p/64] |= 1 << (p % 64)
}

// write writes what the transaction changes, and returns how it stands then.
func (c *changing) write(txn *badger.Txn, now *Changes) (then *Changes, err error) {
	put := func(key Key, n uint64) {
		if err == nil {
			err = txn.Set(key, binary.BigEndian.AppendUint64(nil, n))
		}
	}
	then = now
	change := func() {
		if then == now {
			copied := *now
			then = &copied
		}
	}
	if c.next {
		change()
		then.Generation++
		put(changesKey(), then.Generation)
	}
	if c.kept != 0 {
		change()
		then.Kept = c.kept
		put(keptKey(), then.Kept)
	}
	for i, set := range c.partitions {
		for ; set != 0; set &= set - 1 {
			p := Partition(i*64 + bits.TrailingZeros64(set))
			if then.Written[p] == then.Generation {
				continue
			}
			change()
			then.Written[p] = then.Generation
			put(writtenKey(p), then.Generation)
		}
	}
	return then, err
}

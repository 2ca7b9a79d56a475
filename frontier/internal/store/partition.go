package store

import (
	"bytes"
	"encoding/binary"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/ring"
)

// Partitions is into how many ranges the hashes of PLDs are divided. All workers of a cluster, and their stores, agree on it.
const (
	Partitions     = ring.Partitions
	headBits       = 16 // of a hash, that decide on the partition of a key
	partitionBits  = ring.PartitionBits
	partitionShift = 64 - partitionBits
)

// Partition is a range of the hashes of PLDs: those with the same high bits. Keys of the kinds of OfPartitions have these bits
// behind their ID. So all that a crawl knows of the PLDs of a partition is one range under each kind, and can be handed over without
// a look at anything else.
type Partition uint16

// Choice says of which crawls a partition is exported, imported or dropped. The zero value is of none.
type Choice byte

// The choices. A mark of Move holds one.
const (
	// SpreadCrawls are those that are divided over the workers of the ring: their partitions go where the ring says.
	SpreadCrawls Choice = 1
	// AllCrawls are all that the folder has, bound ones as well.
	AllCrawls Choice = 2
)

// PartitionOf is the partition of a PLD, by its hash.
func PartitionOf(pld uint64) Partition { return Partition(pld >> partitionShift) }

// head is how the hashes of the partition begin.
func (p Partition) head() uint16 { return uint16(p) << (headBits - partitionBits) }

// Has reports whether a key of a kind of OfPartitions, behind kind and crawl, is in the partition.
func (p Partition) Has(behind []byte) bool {
	return len(behind) >= 8 && binary.BigEndian.Uint16(behind)>>(headBits-partitionBits) == uint16(p)
}

// inPartition is what the keys of a kind in a partition stand under, the first that they may be, and whether one is in it.
func inPartition(k Keys, kind Kind, p Partition) (under, from Key, has func(key Key) bool) {
	under = k.All(kind)
	from = binary.BigEndian.AppendUint16(under[:len(under):len(under)], p.head())
	if p == Partitions-1 {
		return under, from, func(Key) bool { return true }
	}
	end := binary.BigEndian.AppendUint16(under[:len(under):len(under)], (p + 1).head())
	return under, from, func(key Key) bool { return bytes.Compare(key, end) < 0 }
}

// InPartition calls fn with each key of a kind in a partition, and its value, in their order, until fn returns false. What fn gets
// is valid until it returns.
func (r Reader) InPartition(k Keys, kind Kind, p Partition, fn func(key Key, value []byte) (more bool, err error)) error {
	under, from, has := inPartition(k, kind, p)
	return r.Scan(under, from, func(key Key, value []byte) (bool, error) {
		if !has(key) {
			return false, nil
		}
		return fn(key, value)
	})
}

// KeysInPartition does so without the values.
func (r Reader) KeysInPartition(k Keys, kind Kind, p Partition, fn func(key Key) (more bool, err error)) error {
	under, from, has := inPartition(k, kind, p)
	return r.scan(under, from, func(item *badger.Item) (bool, error) {
		if !has(item.Key()) {
			return false, nil
		}
		return fn(item.Key())
	})
}

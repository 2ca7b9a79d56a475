package store

import (
	"bytes"
	"encoding/binary"

	"github.com/muninn-archive/muninn/internal/ring"
)

// Partitions is into how many ranges the hashes of PLDs are divided. All workers of a cluster, and their stores, agree on it.
const (
	Partitions     = ring.Partitions
	headBits       = 16 // of a hash, that decide on the partition of a key
	partitionShift = 64 - ring.PartitionBits
)

// Partition is a range of the hashes of PLDs: those with the same high bits. Keys of the kinds of OfPartitions have these bits
// behind their ID. So all that a crawl knows of the PLDs of a partition is one range under each kind, and can be handed over without
// a look at anything else.
type Partition uint16

// PartitionOf is the partition of a PLD, by its hash.
func PartitionOf(pld uint64) Partition { return Partition(pld >> partitionShift) }

// head is how the hashes of the partition begin.
func (p Partition) head() uint16 { return uint16(p) << (headBits - ring.PartitionBits) }

// InPartition calls fn with each key of a kind in a partition, and its value, in their order, until fn returns false. What fn gets
// is valid until it returns.
func (r Reader) InPartition(k Keys, kind Kind, p Partition, fn func(key Key, value []byte) (more bool, err error)) error {
	under := k.All(kind)
	from := binary.BigEndian.AppendUint16(under[:len(under):len(under)], p.head())
	var end Key // of the last partition it is that of all keys of the kind
	if p < Partitions-1 {
		end = binary.BigEndian.AppendUint16(under[:len(under):len(under)], (p + 1).head())
	}
	return r.Scan(under, from, func(key Key, value []byte) (bool, error) {
		if end != nil && bytes.Compare(key, end) >= 0 {
			return false, nil
		}
		return fn(key, value)
	})
}

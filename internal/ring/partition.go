package ring

import "github.com/cespare/xxhash/v2"

// PartitionOf is the partition of a PLD.
func PartitionOf(pld string) int { return int(xxhash.Sum64String(pld) >> (64 - PartitionBits)) }

package frontier

import (
	"fmt"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// Partition is a part of the PLDs, by the high bits of their hashes: what moves from one worker to another.
type Partition = store.Partition

// Partitions is how many there are.
const Partitions = store.Partitions

// PartitionCrawl is what the entries of a partition rest on that is not in them. Numbers that a frontier gives by itself say nothing
// to another one, but for these.
type PartitionCrawl struct {
	Name     string
	Run      uint32  // the last
	Counter  uint64  // no entry of a queue has a higher one; whoever takes the entries gives higher ones
	Archives []Place // by the numbers that records, claims and digests have of them
}

// PartitionEntry is an entry of a partition. Its bytes are valid until the call that it was given to returns.
type PartitionEntry struct {
	Crawl *PartitionCrawl // the same for all entries of a crawl; nil: of all crawls, as when a host may be asked again
	Kind  byte            // see docs/architecture/frontier.md
	Key   []byte          // behind kind and crawl
	Value []byte
}

// keyHead is the length of the kind and the crawl's ID in a key.
const keyHead = 3

// Export calls fn with all that the frontier keeps of the PLDs of a partition, at one moment, sorted by crawl, kind and key: first what
// all crawls share. The ID that the frontier has given to a crawl is in none of it. Close waits until it returns.
func (f *Frontier) Export(p Partition, fn func(PartitionEntry) error) error {
	return f.store.View(func(txn store.Reader) error {
		kinds := func(k store.Keys, of *PartitionCrawl) error {
			for _, kind := range store.OfPartitions() {
				if shared := kind == store.Hosts; shared != (of == nil) {
					continue
				}
				err := txn.InPartition(k, kind, p, func(key store.Key, value []byte) (bool, error) {
					return true, fn(PartitionEntry{of, byte(kind), key[keyHead:], value})
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		if err := kinds(0, nil); err != nil {
			return err
		}
		return txn.Scan(store.Crawl(""), nil, func(_ store.Key, value []byte) (bool, error) {
			var rec crawlRecord
			if err := codec.Unmarshal(value, &rec); err != nil {
				return false, fmt.Errorf("export partition %d: %w", p, err)
			}
			if _, err := txn.Load(rec.ID.Plan(), &rec.planRecord); err != nil {
				return false, fmt.Errorf("export partition %d: %w", p, err)
			}
			return true, kinds(rec.ID, &PartitionCrawl{rec.Name, rec.Run, rec.Counter, rec.Archives})
		})
	})
}

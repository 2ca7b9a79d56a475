package frontier

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// Partition is a part of the PLDs, by the high bits of their hashes: what moves from one worker to another.
type Partition = store.Partition

// Partitions is how many there are.
const Partitions = store.Partitions

// PartitionCrawl is what the entries of a partition rest on that is not in them. Numbers that a frontier gives by itself say nothing
// to another one, but for these.
type PartitionCrawl struct {
	Name     string  `cbor:"1,keyasint"`
	Run      uint32  `cbor:"2,keyasint"`           // the last
	Archives []Place `cbor:"3,keyasint,omitempty"` // by the numbers that records and digests have of them
	Spread   bool    `cbor:"4,keyasint,omitempty"` // see crawl.Definition
	// Unseeded says that its seeds of that run, and what earlier runs have crawled, may not be queued in the partition: who loads it does so.
	Unseeded bool `cbor:"5,keyasint,omitempty"`
	// Owner is that of the run by whose definition its seeds are queued: one that takes the run over may have others. Empty of earlier versions.
	Owner string `cbor:"6,keyasint,omitempty"`
}

// PartitionEntry is an entry of a partition.
type PartitionEntry struct {
	Crawl *PartitionCrawl // the same for all entries of a crawl; nil: of all crawls, as when a host may be asked again
	Kind  byte            // see docs/architecture/frontier.md
	Key   []byte          // behind kind and crawl
	Value []byte
}

// keyHead is the length of the kind and the crawl's ID in a key.
const keyHead = 3

// Export is what a frontier keeps of partitions, at one moment.
type Export struct {
	txn   store.Reader
	of    Choice
	known []knownCrawl // of the choice, once they are read
}

// Export calls fn with what the frontier keeps, at one moment. What is written meanwhile is not in it. Close waits until it returns.
func (f *Frontier) Export(fn func(e *Export) error) error {
	return f.store.View(func(txn store.Reader) error { return fn(&Export{txn: txn, of: AllCrawls}) })
}

// Of is the same without the crawls that are not of a choice. What all crawls share is in it.
func (e *Export) Of(of Choice) *Export { return &Export{txn: e.txn, of: of} }

// Partition calls fn with all that the crawls of the choice keep of the PLDs of a partition, sorted by crawl, kind and key: first what all crawls
// share. The ID that the frontier has given to a crawl is in none of it, nor are claims and releases, which are the worker's: a
// claim of a partition that is imported elsewhere is given back by that, for its URLs have never left their queue. Before the first entry it calls
// head with the crawls that have any. What fn gets of keys and values is valid until it returns.
func (e *Export) Partition(p Partition, head func([]*PartitionCrawl) error, fn func(PartitionEntry) error) error {
	crawls, err := e.crawls(p)
	if err != nil {
		return fmt.Errorf("export partition %d: %w", p, err)
	}
	names := make([]*PartitionCrawl, len(crawls))
	for i := range crawls {
		names[i] = &crawls[i].PartitionCrawl
	}
	if err := head(names); err != nil {
		return err
	}
	shared := []store.Kind{store.Hosts}
	if err := e.entries(p, 0, shared, nil, fn); err != nil {
		return err
	}
	own := slices.DeleteFunc(store.OfExports(), func(k store.Kind) bool { return k == store.Hosts })
	for i := range crawls {
		if err := e.entries(p, crawls[i].id, own, names[i], fn); err != nil {
			return err
		}
	}
	return nil
}

func (e *Export) entries(p Partition, id store.Keys, kinds []store.Kind, of *PartitionCrawl, fn func(PartitionEntry) error) error {
	for _, kind := range kinds {
		err := e.txn.InPartition(id, kind, p, func(key store.Key, value []byte) (bool, error) {
			return true, fn(PartitionEntry{of, byte(kind), key[keyHead:], value})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Some reports whether a partition has any entry.
func (e *Export) Some(p Partition) (some bool, err error) {
	all, err := e.records()
	if err != nil {
		return false, err
	}
	some, err = e.has(p, 0, store.Hosts)
	for i := 0; i < len(all) && err == nil && !some; i++ {
		some, err = e.has(p, all[i].ID, store.OfExports()...)
	}
	return some, err
}

// HasCrawls reports whether a crawl has an entry in a partition.
func (e *Export) HasCrawls(p Partition) (bool, error) {
	all, err := e.records()
	for i := range all {
		if has, err := e.has(p, all[i].ID, store.OfExports()...); err != nil || has {
			return has, err
		}
	}
	return false, err
}

// exportedCrawl is a crawl with the ID that this frontier has given to it.
type exportedCrawl struct {
	PartitionCrawl
	id store.Keys
}

// Names lists the crawls of the choice.
func (e *Export) Names() (list []string, err error) {
	all, err := e.records()
	for i := range all {
		list = append(list, all[i].Name)
	}
	return list, err
}

// knownCrawl is the record of a crawl, and as it stands on disk.
type knownCrawl struct {
	crawlRecord
	raw      []byte
	archives []Place // of its plan
}

// records are those of the crawls of the choice, by name.
func (e *Export) records() ([]knownCrawl, error) {
	if e.known != nil {
		return e.known, nil
	}
	err := scanCrawls(e.txn, func(rec crawlRecord, raw []byte) error {
		if !rec.chosen(e.of) {
			return nil
		}
		var plan planRecord
		_, err := e.txn.Load(rec.ID.Plan(), &plan)
		e.known = append(e.known, knownCrawl{rec, bytes.Clone(raw), plan.Archives})
		return err
	})
	return e.known, err
}

// crawls lists those that have an entry in a partition, by name.
func (e *Export) crawls(p Partition) (list []exportedCrawl, err error) {
	all, err := e.records()
	if err != nil {
		return nil, err
	}
	for i := range all {
		rec := &all[i]
		has, err := e.has(p, rec.ID, store.OfExports()...)
		if err != nil {
			return nil, err
		}
		if has {
			list = append(list, exportedCrawl{PartitionCrawl{rec.Name, rec.Run, rec.archives, rec.Spread, rec.Spread && (rec.lacks(p) || rec.Imported), rec.Owner}, rec.ID})
		}
	}
	return list, nil
}

// has reports whether a crawl has an entry of some kinds in a partition.
func (e *Export) has(p Partition, id store.Keys, kinds ...store.Kind) (has bool, err error) {
	for _, kind := range kinds {
		err := e.txn.KeysInPartition(id, kind, p, func(store.Key) (bool, error) {
			has = true
			return false, nil
		})
		if err != nil || has {
			return has, err
		}
	}
	return false, nil
}

package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// NoPartition stands for what belongs to no partition: what the frontier keeps of crawls beside their PLDs.
const NoPartition Partition = Partitions

// Generations say what has changed in a folder since a former checkpoint of it.
type Generations struct {
	Present uint64 // of the checkpoint that is made
	Kept    uint64 // the mark of the last one that was kept (Frontier.Kept), also in the folder that this one is a copy of; 0: none
	written *[Partitions]uint64
}

// Changed reports whether a partition has been written since a checkpoint of the same folder, by its generation.
func (g Generations) Changed(p Partition, since uint64) bool { return g.written[p] >= since }

// Kept notes that a checkpoint was kept, by its mark: a number other than 0 that no other checkpoint has.
func (f *Frontier) Kept(mark uint64) error {
	return f.update(func(tx *transaction) (func(), error) {
		tx.Kept(mark)
		return nil, nil
	})
}

// Checkpoint calls fn with what the frontier keeps at one moment, at which no commit is half written.
func (f *Frontier) Checkpoint(fn func(e *Export, g Generations) error) error {
	err := f.update(func(tx *transaction) (func(), error) {
		tx.NextGeneration() // what is written from now on is of the next checkpoint, and perhaps of this one, too
		return nil, nil
	})
	if err != nil {
		return err
	}
	f.committing.Lock()
	locked := true
	unlock := func() {
		if locked {
			locked = false
			f.committing.Unlock()
		}
	}
	defer unlock()
	return f.store.View(func(txn store.Reader) error {
		unlock()
		c, err := txn.Changes()
		if err != nil {
			return err
		}
		return fn(&Export{txn: txn, of: AllCrawls}, Generations{c.Generation, c.Kept, &c.Written})
	})
}

// ofNoPartition are the kinds of NoPartition, in the order of their letters. Of those that stay with the worker, two are not exported: the format is
// the store's, marks of moves say something of this folder.
func ofNoPartition() []store.Kind {
	list := slices.DeleteFunc(store.OfCrawls(), func(k store.Kind) bool { return slices.Contains(store.OfPartitions(), k) })
	list = append(list, store.Crawls)
	slices.Sort(list)
	return list
}

// Crawls does for NoPartition what Partition does for a partition. Of a crawl there is one entry of the kind of crawls, without a key.
func (e *Export) Crawls(head func([]*PartitionCrawl) error, fn func(PartitionEntry) error) error {
	list, err := e.records()
	if err != nil {
		return fmt.Errorf("export crawls: %w", err)
	}
	names := make([]*PartitionCrawl, len(list))
	for i := range list {
		names[i] = &PartitionCrawl{Name: list[i].Name, Run: list[i].Run}
	}
	if err := head(names); err != nil {
		return err
	}
	for i := range list {
		c := &list[i]
		for _, kind := range ofNoPartition() {
			if kind == store.Crawls {
				err = fn(PartitionEntry{names[i], byte(kind), nil, c.raw})
			} else {
				err = e.txn.Scan(c.ID.All(kind), nil, func(key store.Key, value []byte) (bool, error) {
					return true, fn(PartitionEntry{names[i], byte(kind), key[keyHead:], value})
				})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrKnown says that a crawl is to be made known that the frontier knows.
var ErrKnown = errors.New("the frontier knows this crawl already")

// ImportCrawls makes the crawls known that another frontier knew, as Export.Crawls gives them: their plans, totals, marks of what was
// committed, and what they have learned. It is for a new folder, and comes before Import; cut off, it leaves a folder that is of
// no use. It returns the number of entries.
func (f *Frontier) ImportCrawls(entries iter.Seq2[PartitionEntry, error]) (n int, err error) {
	in := restoring{f: f, records: map[*PartitionCrawl]*crawlRecord{}, pairs: pairs{to: f.store}}
	for e, err := range entries {
		if err == nil {
			err = in.add(e)
		}
		if err != nil {
			return n, fmt.Errorf("import crawls: %w", err)
		}
		n++
	}
	if err := in.finish(); err != nil {
		return n, fmt.Errorf("import crawls: %w", err)
	}
	return n, nil
}

// restoring is an ImportCrawls in progress.
type restoring struct {
	f       *Frontier
	records map[*PartitionCrawl]*crawlRecord
	order   []*crawlRecord
	pairs   pairs
}

func (in *restoring) add(e PartitionEntry) error {
	kind := store.Kind(e.Kind)
	if e.Crawl == nil || !slices.Contains(ofNoPartition(), kind) {
		return fmt.Errorf("%w: kind %q, key %x", ErrEntry, e.Kind, e.Key)
	}
	rec, err := in.record(e.Crawl)
	if err != nil {
		return err
	}
	if kind == store.Crawls {
		id := rec.ID
		if err := codec.Unmarshal(e.Value, rec); err != nil || rec.Name != e.Crawl.Name {
			return fmt.Errorf("%w: crawl %s: its record cannot be read: %w", ErrEntry, e.Crawl.Name, err)
		}
		rec.ID = id
		return nil
	}
	return in.pairs.add(store.Pair{Key: append(rec.ID.All(kind), e.Key...), Value: bytes.Clone(e.Value)})
}

// record is that of a crawl, with the ID that it has here.
func (in *restoring) record(of *PartitionCrawl) (*crawlRecord, error) {
	if rec := in.records[of]; rec != nil {
		return rec, nil
	}
	in.f.mu.Lock()
	defer in.f.mu.Unlock()
	if in.f.crawls[of.Name] != nil {
		return nil, fmt.Errorf("%w: %s", ErrKnown, of.Name)
	}
	id, err := in.f.freeID(&transaction{})
	if err != nil {
		return nil, err
	}
	in.f.nextID = id + 1
	rec := &crawlRecord{ID: id, Name: of.Name}
	in.records[of], in.order = rec, append(in.order, rec)
	return rec, nil
}

// finish makes the crawls known: what memory holds of them is read when somebody asks.
func (in *restoring) finish() error {
	if err := in.pairs.flush(); err != nil {
		return err
	}
	var states []*state
	err := in.f.store.View(func(txn store.Reader) error {
		for _, rec := range in.order {
			if _, err := txn.Load(rec.ID.Plan(), &rec.planRecord); err != nil {
				return err
			}
			if _, err := txn.Load(rec.ID.History(), &rec.History); err != nil {
				return err
			}
			s, err := in.f.newState(*rec)
			if err != nil {
				return err
			}
			s.clear()
			s.asleep = true
			states = append(states, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return in.f.update(func(tx *transaction) (func(), error) {
		for _, rec := range in.order {
			if err := tx.Save(store.Crawl(rec.Name), rec); err != nil {
				return nil, err
			}
		}
		return func() {
			for _, s := range states {
				in.f.crawls[s.Name] = s
			}
		}, nil
	})
}

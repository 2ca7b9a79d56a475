package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// ErrMoving says that a partition is being imported or dropped, or was in part: nothing that the crawls of the move have of it is read or
// written meanwhile.
var ErrMoving = errors.New("the partition is being moved")

// moveBatch is how many entries of a partition are read, written or deleted at a time.
const moveBatch = 10_000

// Of a partition that is being imported or dropped there is a mark on disk (store.Move), which says of which crawls. While it stands, memory
// has nothing that these crawls have of the partition, whatever the disk has: no queue, no claim, nothing that waits. Other crawls continue in
// it. The mark goes in the transaction with which memory gets what was imported. A frontier that is opened deletes what the crawls
// of a mark have of its partition: the worker imports it again.

// Choice says of which crawls a partition is exported, imported or dropped.
type Choice = store.Choice

// The choices.
const (
	SpreadCrawls = store.SpreadCrawls
	AllCrawls    = store.AllCrawls
)

// chosen reports whether a crawl is among those of a choice.
func (rec *crawlRecord) chosen(of Choice) bool {
	return of == AllCrawls || of == SpreadCrawls && rec.Spread
}

// partitionMoves are the partitions that are being moved. The writer alone changes it, with Frontier.mu held.
type partitionMoves struct {
	now map[Partition]Choice
	// under are those of which an Import or a Drop runs; the others of now were cut off. Frontier.mu guards it.
	under map[Partition]bool
	// changes counts: a goroutine that has read a crawl from disk without the lock reads it again if a move has begun or ended meanwhile.
	changes int
}

// isMoving reports, within a mutation, whether the partition of a PLD is being moved, of a crawl.
func (f *Frontier) isMoving(tx *transaction, s *state, pld uint64) bool {
	p := store.PartitionOf(pld)
	return s.chosen(max(f.moves.now[p], tx.moving[p]))
}

// move takes what some crawls have of a partition out of memory, marks it on disk, and deletes what is there of it; then it calls do.
// ErrBusy if claims of it are out, ErrMoving if another move of the partition runs.
func (f *Frontier) move(p Partition, of Choice, do func() error) error {
	f.mu.Lock()
	if f.moves.under[p] {
		f.mu.Unlock()
		return ErrMoving
	}
	if f.moves.under == nil {
		f.moves.under = map[Partition]bool{}
	}
	f.moves.under[p] = true
	of = max(of, f.moves.now[p]) // what another move has left that was cut off
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.moves.under, p)
		f.mu.Unlock()
	}()
	if err := f.startMove(p, of); err != nil {
		return err
	}
	if err := f.deletePartition(p, of); err != nil {
		return err
	}
	return do()
}

func (f *Frontier) startMove(p Partition, of Choice) error {
	return f.update(func(tx *transaction) (func(), error) {
		f.mu.Lock()
		crawls := make([]*state, 0, len(f.crawls)+len(tx.added))
		for _, all := range []map[string]*state{f.crawls, tx.added} {
			for _, s := range all {
				if s.chosen(of) {
					crawls = append(crawls, s)
				}
			}
		}
		err := claimedIn(crawls, p)
		f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		found := make([]inPartition, len(crawls))
		for i, s := range crawls {
			if found[i], err = f.listPartition(tx, s, p); err == nil && of == SpreadCrawls {
				err = f.leaveKnown(tx, s, p)
			}
			if err != nil {
				return nil, err
			}
		}
		tx.move(p, of)
		return func() {
			f.moves.set(p, of)
			for i, s := range crawls {
				if !s.asleep {
					s.withoutPartition(p, found[i], f)
				}
			}
		}, tx.Set(store.Move(p), []byte{byte(of)})
	})
}

// claimedIn reports a claim of some crawls that is in progress in a partition; Frontier.mu is held.
func claimedIn(crawls []*state, p Partition) error {
	for _, s := range crawls {
		for c := range s.claims.All() {
			if store.PartitionOf(c.Queue) == p {
				return fmt.Errorf("%w: claim %s of crawl %s is in progress in partition %d", ErrBusy, c.ID, s.Name, p)
			}
		}
	}
	return nil
}

// inPartition is what a crawl has of a partition, as the disk says.
type inPartition struct {
	plds    []uint64
	delayed int
}

// listPartition lists what a crawl has of a partition; the mutation rests on what memory says of these queues.
func (f *Frontier) listPartition(tx *transaction, s *state, p Partition) (found inPartition, err error) {
	err = tx.KeysInPartition(s.keys, store.Queues, p, func(key store.Key) (bool, error) {
		found.plds = append(found.plds, key.PLD())
		return true, tx.touch(s, key.PLD())
	})
	if err != nil {
		return found, err
	}
	err = tx.KeysInPartition(s.keys, store.Delays, p, func(store.Key) (bool, error) {
		found.delayed++
		return true, nil
	})
	return found, err
}

// withoutPartition takes a partition out of memory; Frontier.mu is held.
func (s *state) withoutPartition(p Partition, found inPartition, f *Frontier) {
	for _, pld := range found.plds {
		q, known := s.queues[pld]
		if !known {
			continue
		}
		s.waiting -= q.Waiting
		q.Waiting, q.Requisites, q.Busy = 0, 0, false
		s.schedule.Place(q, f.opts.Now()) // it counts no longer
		s.schedule.Drop(q)
		delete(s.queues, pld)
	}
	if _, delayed := s.delays.by[p]; delayed {
		s.delays.remove(found.delayed, map[store.Partition]int64{p: 0})
	}
}

// deletePartition deletes what some crawls have of a marked partition. When its hosts may be asked again stays: that holds for all crawls.
func (f *Frontier) deletePartition(p Partition, of Choice) error {
	ids := []store.Keys{}
	f.mu.Lock()
	for _, s := range f.crawls {
		if s.chosen(of) {
			ids = append(ids, s.keys)
		}
	}
	f.mu.Unlock()
	return deletePartition(f.store, p, ids)
}

func deletePartition(disk *store.Store, p Partition, ids []store.Keys) error {
	slices.Sort(ids)
	var keys []store.Key
	flush := func() error {
		err := disk.Delete(keys)
		keys = keys[:0]
		return err
	}
	err := disk.View(func(txn store.Reader) error {
		for _, id := range ids {
			for _, kind := range store.OfExports() {
				if kind == store.Hosts {
					continue
				}
				err := txn.KeysInPartition(id, kind, p, func(key store.Key) (bool, error) {
					if keys = append(keys, bytes.Clone(key)); len(keys) < moveBatch {
						return true, nil
					}
					return true, flush()
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, flush())
}

// finishMoves deletes what partitions have that were being moved when the frontier was closed or killed. It comes before anything is loaded.
func finishMoves(disk *store.Store) error {
	var moving map[Partition]Choice
	ids := map[Choice][]store.Keys{}
	err := disk.View(func(txn store.Reader) (err error) {
		if moving, err = txn.Moving(); err != nil || len(moving) == 0 {
			return err
		}
		return scanCrawls(txn, func(rec crawlRecord, _ []byte) error {
			for _, of := range []Choice{SpreadCrawls, AllCrawls} {
				if rec.chosen(of) {
					ids[of] = append(ids[of], rec.ID)
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("open frontier: %w", err)
	}
	for p, of := range moving {
		if err := deletePartition(disk, p, ids[of]); err != nil {
			return err
		}
		if err := disk.Delete([]store.Key{store.Move(p)}); err != nil {
			return err
		}
	}
	return nil
}

// hasOf reports whether some crawls have anything of a partition, or a move of it was cut off.
func (f *Frontier) hasOf(p Partition, of Choice) (has bool, err error) {
	f.mu.Lock()
	moving := f.moves.now[p] != 0
	f.mu.Unlock()
	if moving {
		return true, nil
	}
	err = f.Export(func(e *Export) error {
		has, err = e.Of(of).HasCrawls(p)
		return err
	})
	return has, err
}

// set notes of which crawls a partition is being moved; none: it is not.
func (m *partitionMoves) set(p Partition, of Choice) {
	if m.changes++; of == 0 {
		delete(m.now, p)
		return
	}
	if m.now == nil {
		m.now = map[Partition]Choice{}
	}
	m.now[p] = of
}

// Drop deletes what some crawls have of a partition. ErrBusy if claims of theirs are in progress in it. A drop that was cut off is ended when
// the frontier is opened.
func (f *Frontier) Drop(p Partition, of Choice) error {
	if has, err := f.hasOf(p, of); err != nil || !has {
		return err
	}
	err := f.move(p, of, func() error {
		return f.update(func(tx *transaction) (func(), error) {
			return func() { f.moves.set(p, 0) }, tx.Delete(store.Move(p))
		})
	})
	if err != nil {
		return fmt.Errorf("drop partition %d: %w", p, err)
	}
	return nil
}

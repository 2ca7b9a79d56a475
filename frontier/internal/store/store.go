package store

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// The errors of a store.
var (
	ErrClosed = errors.New("the frontier is closed")
	ErrLocked = errors.New("it is in use by another process: give each worker a data folder of its own, or wait for that one's end")
	// ErrTooBig says that a transaction writes more than the store can take at once: some 4.8 MB or 50,000 entries.
	ErrTooBig = badger.ErrTxnTooBig
)

// memTable is the size in bytes of the table in memory that collects writes until it goes to disk. Badger allocates it whole, with a
// third on top, and maps a log of twice its size beside it: with 64 MB a worker took some 130 MB more at its peak. A transaction
// takes at most 15 % of it.
const memTable = 32 << 20

// Options make a store.
type Options struct {
	Room   func() error // refuses a write that the disk may have no room for; nil: none is refused
	NoSync bool         // what is acknowledged may be lost with the machine
	Table  int64        // as memTable, which is the default
}

// Store is a store in a folder. Its methods are safe for concurrent use.
type Store struct {
	db      *badger.DB
	room    func() error
	closed  chan struct{}
	once    sync.Once
	reading sync.RWMutex // held while reading, so that Close waits
	changes *Changes     // as Update has left it
	recent  *recent
}

// Open opens the store in a folder; ErrLocked if another process has it open.
func Open(dir string, opts Options) (*Store, error) {
	if err := removeEmptyLogs(dir); err != nil {
		return nil, fmt.Errorf("open frontier in %s: %w", dir, err)
	}
	largest, err := largestLog(dir)
	if err != nil {
		return nil, fmt.Errorf("open frontier in %s: %w", dir, err)
	}
	table := cmp.Or(opts.Table, memTable)
	if largest > 2*table {
		db, err := openDB(dir, largest/2, opts)
		if err == nil {
			err = db.Close() // writes the table to disk, and leaves no log
		}
		if err != nil {
			return nil, err
		}
	}
	db, err := openDB(dir, table, opts)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, room: opts.Room, closed: make(chan struct{}), recent: newRecent()}
	err = s.View(func(r Reader) error {
		changes, err := r.Changes()
		s.changes = &changes
		return err
	})
	if err == nil && s.hasRoom() == nil {
		err = writeEnds(db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier in %s: %w", dir, err), db.Close())
	}
	go s.collectGarbage()
	return s, nil
}

func openDB(dir string, table int64, opts Options) (*badger.DB, error) {
	o := badger.DefaultOptions(dir).
		WithLogger(nil).WithSyncWrites(!opts.NoSync).WithCompression(options.None).
		WithBlockCacheSize(0).WithIndexCacheSize(0).WithNumVersionsToKeep(1).WithDetectConflicts(false).
		WithMemTableSize(table).WithBaseLevelSize(256 << 20).WithBaseTableSize(table / 2).
		WithNumCompactors(2).WithMetricsEnabled(false)
	db, err := badger.Open(o)
	if err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return nil, fmt.Errorf("open frontier in %s: %w%s", dir, ErrLocked, by(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("open frontier in %s: %w", dir, err)
	}
	return db, nil
}

// The first and the last key of a store. No reader sees them.
const (
	firstKey = 0x00
	lastKey  = 0xff
)

// writeEnds writes the first and the last key, so that the next table that is written to disk has all others in its range. When a process
// ends soon, its tables are small, and without these keys have few ranges in common. Badger (4.9.6) may merge tables of level 0 into one that then
// counts as the newest, and move newer tables below it that have no key range in common with it, or with those between them: deletions in
// them are dropped, and the older values of the keys are back.
func writeEnds(db *badger.DB) error {
	return db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set(Key{firstKey}, nil), txn.Set(Key{lastKey}, nil))
	})
}

// isEnd reports whether it is the first or the last key of a store.
func isEnd(key Key) bool { return len(key) == 1 && (key[0] == firstKey || key[0] == lastKey) }

// largestLog is the size in bytes of the largest log of a table in memory, which a process leaves that was killed; 0: there is none.
// A log has twice the size of its table. One of an earlier version, whose tables were larger, is read into a table of that version's size:
// Badger ends the process if the table is too small for what it reads.
func largestLog(dir string) (size int64, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return 0, err
	}
	for _, log := range logs {
		info, err := os.Stat(log)
		if err != nil {
			return 0, err
		}
		size = max(size, info.Size())
	}
	return size, nil
}

// by names the process that has a store open, if its folder says.
func by(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return ""
	}
	return ", process " + strings.TrimSpace(string(raw))
}

// removeEmptyLogs removes logs without a byte, of a process that was killed between making the file and giving it its
// size: nothing was written to them, and Badger takes them for new ones when it reads the old ones, which it refuses.
func removeEmptyLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return err
	}
	values, err := filepath.Glob(filepath.Join(dir, "*.vlog"))
	if err != nil {
		return err
	}
	for _, log := range append(logs, values...) {
		if info, err := os.Stat(log); err != nil {
			return err
		} else if info.Size() > 0 {
			continue
		}
		if err := os.Remove(log); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for the end of all reads, and closes the store.
func (s *Store) Close() error {
	err := ErrClosed
	s.once.Do(func() {
		close(s.closed)
		s.reading.Lock()
		defer s.reading.Unlock()
		err = s.db.Close()
	})
	return err
}

// collectGarbage gives back the space of values that are no longer needed.
func (s *Store) collectGarbage() {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for s.db.RunValueLogGC(0.5) == nil {
				continue
			}
		case <-s.closed:
			return
		}
	}
}

// View shows fn the store as it stands.
func (s *Store) View(fn func(r Reader) error) error {
	return s.whileOpen(func() error {
		after := s.recent.now()
		return s.db.View(func(txn *badger.Txn) error { return fn(Reader{txn, s.recent, after, false}) })
	})
}

// whileOpen has Close wait until do returns; ErrClosed if it was called before.
func (s *Store) whileOpen(do func() error) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	select {
	case <-s.closed:
		return ErrClosed
	default:
		return do()
	}
}

// hasRoom reports a disk that is short: Badger writes through memory maps, and a page of one that the disk has no room for is a SIGBUS.
func (s *Store) hasRoom() error {
	if s.room == nil {
		return nil
	}
	return s.room()
}

// Update writes what fn writes in one transaction, unless fn returns an error. Transactions must not overlap: nobody looks
// for conflicts.
func (s *Store) Update(fn func(tx Tx) error) error {
	if err := s.hasRoom(); err != nil {
		return fmt.Errorf("write frontier: %w", err)
	}
	after := s.recent.now()
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	tx := Tx{Reader{txn, s.recent, after, true}, s.db, &changing{}, new([]written)}
	if err := fn(tx); err != nil {
		return err
	}
	then, err := tx.changes.write(txn, s.changes)
	if err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("write frontier: %w", err)
	}
	s.recent.committed(*tx.wrote)
	s.changes = then
	return nil
}

// Delete deletes keys, however many, in several transactions and whether there is room for them or not.
func (s *Store) Delete(keys []Key) error {
	return s.batch(slices.Values(keys), func(b *badger.WriteBatch) error {
		for _, key := range keys {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Pair is a key and its value.
type Pair struct {
	Key   Key
	Value []byte
}

// Write writes pairs, however many, in several transactions, beside those of Update: no other writes these keys meanwhile. Keys and
// values stay as they are until it returns.
func (s *Store) Write(pairs []Pair) error {
	keys := func(yield func(Key) bool) {
		for _, p := range pairs {
			if !yield(p.Key) {
				return
			}
		}
	}
	return s.batch(keys, func(b *badger.WriteBatch) error {
		if err := s.hasRoom(); err != nil {
			return err
		}
		for _, p := range pairs {
			if err := b.Set(p.Key, p.Value); err != nil {
				return err
			}
		}
		return nil
	})
}

// batch writes what fill does with keys, however much, in several transactions.
func (s *Store) batch(keys iter.Seq[Key], fill func(b *badger.WriteBatch) error) error {
	return s.whileOpen(func() error {
		b := s.db.NewWriteBatch()
		defer b.Cancel()
		err := s.recent.batch(keys, func() error {
			if err := fill(b); err != nil {
				return err
			}
			return b.Flush()
		})
		if err != nil {
			return fmt.Errorf("write frontier: %w", err)
		}
		return nil
	})
}

// Compact makes one level of all tables, for benches that read what a long run has left.
func (s *Store) Compact() error { return s.db.Flatten(2) }

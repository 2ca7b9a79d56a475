package frontier

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/codec"
)

// groupSize is how many writes are made durable together.
const groupSize = 8

func openBadger(dir string, sync bool) (*badger.DB, error) {
	o := badger.DefaultOptions(dir).
		WithLogger(nil).WithSyncWrites(sync).WithCompression(options.None).
		WithBlockCacheSize(0).WithIndexCacheSize(0).WithNumVersionsToKeep(1).WithDetectConflicts(false).
		WithMemTableSize(64 << 20).WithBaseLevelSize(256 << 20).WithBaseTableSize(16 << 20).
		WithNumCompactors(2).WithMetricsEnabled(false)
	if err := dropUnborn(dir); err != nil {
		return nil, fmt.Errorf("open frontier in %s: %w", dir, err)
	}
	db, err := badger.Open(o)
	if err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return nil, fmt.Errorf("open frontier in %s: %w%s", dir, ErrLocked, by(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("open frontier in %s: %w", dir, err)
	}
	return db, nil
}

// by names the process that has a frontier open, as far as its folder tells.
func by(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return ""
	}
	return ", process " + strings.TrimSpace(string(raw))
}

// dropUnborn takes away logs without a byte, of a process that was killed between making the file and giving it its
// size: nothing was written to them, and Badger takes them for new ones when it reads the old ones, which it refuses.
func dropUnborn(dir string) error {
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

// mutation reads and writes in a transaction; apply, which may be nil, brings memory up to date once the transaction is on
// disk. A mutation may run twice, if the group that it came in fails together: what it hands to its caller, it sets anew
// each time.
type mutation func(tx *transaction) (apply func(), err error)

type pendingWrite struct {
	do   mutation
	done chan error
}

// update makes a mutation durable. Mutations that come at the same time share one transaction: a
// sync costs milliseconds, whatever it covers.
func (f *Frontier) update(do mutation) error {
	w := pendingWrite{do, make(chan error, 1)}
	select {
	case f.writes <- w:
	case <-f.closed:
		return ErrClosed
	}
	select {
	case err := <-w.done:
		return err
	case <-f.stopped:
	}
	select { // the writer's last group may have held it
	case err := <-w.done:
		return err
	default:
		return ErrClosed
	}
}

func (f *Frontier) writer() {
	defer close(f.stopped)
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	for {
		select {
		case w := <-f.writes:
			group := []pendingWrite{w}
			for len(group) < groupSize {
				select {
				case w := <-f.writes:
					group = append(group, w)
					continue
				default:
				}
				break
			}
			f.commit(group)
		case <-f.tidy:
			f.tidyUp()
		case <-tidy.C:
			f.tidyUp()
		case <-f.closed:
			return
		}
	}
}

// commit writes a group; if it fails together, each is tried alone.
func (f *Frontier) commit(group []pendingWrite) {
	err := f.commitOnce(group)
	if err == nil || len(group) == 1 {
		for _, w := range group {
			w.done <- err
		}
		return
	}
	for _, w := range group {
		w.done <- f.commitOnce([]pendingWrite{w})
	}
}

func (f *Frontier) commitOnce(group []pendingWrite) error {
	// Badger writes through memory maps: a page of one that the disk has no room for is a SIGBUS.
	if f.opts.Room != nil {
		if err := f.opts.Room(); err != nil {
			return fmt.Errorf("write frontier: %w", err)
		}
	}
	txn := f.db.NewTransaction(true)
	defer txn.Discard()
	tx := newTransaction(txn)
	var applies []func()
	for i, w := range group {
		tx.turn = i
		apply, err := w.do(tx)
		if err = errors.Join(err, tx.unread); err != nil {
			return err
		}
		if apply != nil {
			applies = append(applies, apply)
		}
	}
	if err := tx.writeDrafts(); err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("write frontier: %w", err)
	}
	f.mu.Lock()
	for s, rec := range tx.drafts {
		s.crawlRecord = *rec
	}
	for _, apply := range applies {
		apply()
	}
	for s := range tx.drafts {
		f.evict(s)
	}
	f.mu.Unlock()
	f.wake()
	return nil
}

// view reads; Close waits for it.
func (f *Frontier) view(fn func(txn *badger.Txn) error) error {
	f.reading.RLock()
	defer f.reading.RUnlock()
	select {
	case <-f.closed:
		return ErrClosed
	default:
		return f.db.View(fn)
	}
}

func getValue(txn *badger.Txn, key []byte, read func([]byte) error) (found bool, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read frontier: %w", err)
	}
	return true, item.Value(read)
}

func getCBOR(txn *badger.Txn, key []byte, into any) (bool, error) {
	return getValue(txn, key, func(b []byte) error { return codec.Unmarshal(b, into) })
}

func setCBOR(txn *badger.Txn, key []byte, value any) error {
	raw, err := codec.Marshal(value)
	if err != nil {
		return fmt.Errorf("write frontier: %w", err)
	}
	return txn.Set(key, raw)
}

func getRecord(txn *badger.Txn, key []byte) (r record.Record, found bool, err error) {
	found, err = getValue(txn, key, func(b []byte) (err error) {
		r, err = record.Decode(b)
		return err
	})
	return r, found, err
}

// scan calls fn for each entry under a prefix, in order, until fn returns false.
func scan(txn *badger.Txn, under []byte, from []byte, values bool, fn func(key, value []byte) (bool, error)) error {
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = under, values
	it := txn.NewIterator(o)
	defer it.Close()
	if from == nil {
		from = under
	}
	for it.Seek(from); it.ValidForPrefix(under); it.Next() {
		item := it.Item()
		more := false
		read := func(v []byte) (err error) {
			more, err = fn(item.Key(), v)
			return err
		}
		var err error
		if values {
			err = item.Value(read)
		} else {
			err = read(nil)
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (f *Frontier) withCrawl(name string, do func(s *state, tx *transaction) (func(), error)) error {
	f.mu.Lock()
	s, err := f.get(name)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.update(func(tx *transaction) (func(), error) {
		f.mu.Lock()
		err := s.forgotten()
		if err == nil {
			err = f.awake(s) // it may have fallen asleep since
		}
		f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return do(s, tx)
	})
}

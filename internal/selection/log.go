package selection

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// The errors of a log.
var (
	// ErrNone says that an archive has no selection of a name.
	ErrNone = errors.New("there is no such selection")
	// ErrThere says that an archive has a selection of a name already.
	ErrThere = errors.New("there is a selection of that name already")
	// ErrGap says that an entry is missing between others: something has deleted it.
	ErrGap = errors.New("an entry is missing: restore it from a copy of the archive; without it the selection is not what people have decided")
	// ErrName says that no selection can have a name.
	ErrName = fmt.Errorf("no selection can have that name: letters, digits, '.', '-' and '_', at most %d bytes", crawl.MaxName)
)

// maxEntries bounds the entries of a selection that are read, and so those that are put.
const maxEntries = 1_000_000

// readAtOnce is how many entries are read at a time.
const readAtOnce = 32

// Log is the list of the entries of a selection in an archive. It is for one goroutine; several logs of one selection, in as many
// processes, see each other's entries after Update.
type Log struct {
	store   archive.Store
	name    string
	entries []Entry           // number n stands at n−1
	numbers map[string]uint64 // of entries, by their IDs
}

// Names lists the selections of an archive, in order.
func Names(ctx context.Context, store archive.Store) (names []string, err error) {
	keys := archive.Selections{}
	err = store.List(ctx, keys.All(), func(o archive.Object) error {
		name, _, ok := keys.Entered(o.Key)
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the selections: %w", err)
	}
	return names, nil
}

// Create makes a selection: it puts its first entry. ErrThere if there is one of that name, ErrName if there can be none.
func Create(ctx context.Context, store archive.Store, name, who, why string, what Creation) (*Log, error) {
	if !crawl.ValidName(name) {
		return nil, fmt.Errorf("%q: %w", cut(name), ErrName)
	}
	l := &Log{store: store, name: name, numbers: map[string]uint64{}}
	if _, err := l.Append(ctx, Entry{Who: who, Why: why, Create: &what}); err != nil {
		return nil, err
	}
	return l, nil
}

// Open reads the entries of a selection. ErrNone if there is none of that name.
func Open(ctx context.Context, store archive.Store, name string) (*Log, error) {
	if !crawl.ValidName(name) {
		return nil, fmt.Errorf("%q: %w", cut(name), ErrName)
	}
	l := &Log{store: store, name: name, numbers: map[string]uint64{}}
	if err := l.Update(ctx); err != nil {
		return nil, err
	}
	if len(l.entries) == 0 {
		return nil, fmt.Errorf("selection %s: %w", name, ErrNone)
	}
	return l, nil
}

// First reads the entry that has made a selection: what it is about. ErrNone if there is none of that name.
func First(ctx context.Context, store archive.Store, name string) (Entry, error) {
	if !crawl.ValidName(name) {
		return Entry{}, fmt.Errorf("%q: %w", cut(name), ErrName)
	}
	e, err := (&Log{store: store, name: name}).read(ctx, 1)
	if errors.Is(err, ErrGap) {
		err = fmt.Errorf("selection %s: %w", name, ErrNone)
	}
	return e, err
}

// Name is that of the selection.
func (l *Log) Name() string { return l.name }

// Version is the number of the last entry that was read.
func (l *Log) Version() uint64 { return uint64(len(l.entries)) }

// Entries are those that were read, number n at n−1. They are not changed.
func (l *Log) Entries() []Entry { return slices.Clip(l.entries) }

// Entry is that of a number from 1 to Version.
func (l *Log) Entry(number uint64) Entry { return l.entries[number-1] }

// Update reads the entries that were put since the last one that was read.
func (l *Log) Update(ctx context.Context) error {
	keys, last := archive.Selections{}, uint64(0)
	err := l.store.List(ctx, keys.Of(l.name), func(o archive.Object) error {
		if _, n, ok := keys.Entered(o.Key); ok {
			last = max(last, n)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read selection %s: %w", l.name, err)
	}
	if last > maxEntries {
		return fmt.Errorf("read selection %s: it has %d entries, and at most %d are read", l.name, last, maxEntries)
	}
	first := l.Version() + 1
	if last < first {
		return nil
	}
	// A listing of a folder may lack an entry that was put meanwhile, though it has a later one: each number is asked for.
	more := make([]Entry, last-first+1)
	if err := each(ctx, len(more), func(ctx context.Context, i int) (err error) {
		more[i], err = l.read(ctx, first+uint64(i))
		return err
	}); err != nil {
		return fmt.Errorf("read selection %s: %w", l.name, err)
	}
	for _, e := range more {
		l.take(e)
	}
	return nil
}

// take adds an entry that was read or put.
func (l *Log) take(e Entry) {
	l.entries = append(l.entries, e)
	if _, known := l.numbers[e.ID]; !known {
		l.numbers[e.ID] = l.Version()
	}
}

// Number is that of the entry with an ID, of those that were read; false if there is none.
func (l *Log) Number(id string) (uint64, bool) {
	n, known := l.numbers[id]
	return n, known
}

func (l *Log) read(ctx context.Context, number uint64) (Entry, error) {
	raw, err := archive.ReadAll(ctx, l.store, archive.Selections{}.Entry(l.name, number), maxEntry)
	if errors.Is(err, archive.ErrNotFound) {
		return Entry{}, fmt.Errorf("entry %d: %w", number, ErrGap)
	}
	if err != nil {
		return Entry{}, err
	}
	e, err := decodeEntry(raw)
	if err == nil && (e.Create != nil) != (number == 1) {
		err = faulty("the first entry, and no other one, creates a selection")
	}
	if err != nil {
		return Entry{}, fmt.Errorf("entry %d: %w", number, err)
	}
	return e, nil
}

// Append puts an entry behind all others, and returns its number. Form and, if they are empty, ID and When are set here. Of several that
// append at a time each gets a number of its own: an entry is put if its number is free, else with the next one. An entry with the ID of
// one that is there, read or not, is not put again: the number is that of the one that is there.
func (l *Log) Append(ctx context.Context, e Entry) (number uint64, err error) {
	return l.AppendIf(ctx, e, func() error { return nil })
}

// AppendIf is Append under a condition, which is asked before each attempt, after the entries of others were read: its error is returned, and nothing is
// appended. An entry of another process that comes between the condition and the attempt takes the number, so that the condition is asked again.
func (l *Log) AppendIf(ctx context.Context, e Entry, condition func() error) (number uint64, err error) {
	e.Form = entryForm
	if e.ID == "" {
		e.ID = NewID()
	}
	if e.When.IsZero() {
		e.When = time.Now().UTC().Truncate(time.Millisecond)
	}
	raw, err := e.encode()
	if err != nil {
		return 0, err
	}
	for {
		if number, known := l.Number(e.ID); known {
			return number, nil
		}
		if err := condition(); err != nil {
			return 0, err
		}
		number = l.Version() + 1
		if number > 1 && e.Create != nil {
			return 0, fmt.Errorf("%s: %w", l.name, ErrThere)
		}
		if number == 1 && e.Create == nil {
			return 0, fmt.Errorf("selection %s: %w", l.name, ErrNone)
		}
		if number > maxEntries {
			return 0, fmt.Errorf("selection %s has %d entries, the most that it can have: start another one", l.name, maxEntries)
		}
		key := archive.Selections{}.Entry(l.name, number)
		err = l.store.PutIfAbsent(ctx, key, raw)
		if errors.Is(err, archive.ErrExists) { // another's, or ours: a store may put it and its answer be lost
			there, errRead := archive.ReadAll(ctx, l.store, key, maxEntry)
			if errRead == nil && bytes.Equal(there, raw) {
				err = nil
			}
		}
		switch {
		case err == nil:
			l.take(e)
			return number, nil
		case !errors.Is(err, archive.ErrExists):
			return 0, fmt.Errorf("append to selection %s: %w", l.name, err)
		}
		if err := l.Update(ctx); err != nil {
			return 0, err
		}
		if l.Version() < number { // a store that lists what it has later than it refuses it
			if err := l.next(ctx, number); err != nil {
				return 0, err
			}
		}
	}
}

// next reads one entry that is known to be there.
func (l *Log) next(ctx context.Context, number uint64) error {
	e, err := l.read(ctx, number)
	if err != nil {
		return fmt.Errorf("read selection %s: %w", l.name, err)
	}
	l.take(e)
	return nil
}

// NewID is an ID for an entry.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// each calls fn with the numbers below n, readAtOnce at a time, and returns the error of the least number that has one.
func each(ctx context.Context, n int, fn func(context.Context, int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	var running sync.WaitGroup
	seats := make(chan struct{}, readAtOnce)
	for i := range n {
		seats <- struct{}{}
		if ctx.Err() != nil {
			<-seats
			break
		}
		running.Go(func() {
			defer func() { <-seats }()
			if errs[i] = fn(ctx, i); errs[i] != nil {
				cancel()
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

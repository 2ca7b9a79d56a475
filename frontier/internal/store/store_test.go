package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/frontier/internal/record"
)

func open(t *testing.T, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTransaction: a transaction sees its own writes, others see them only when it has ended, and a failed transaction leaves nothing.
func TestTransaction(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	k, u := Keys(1), record.Key{PLD: 2, URL: 3}
	knows := func(r Reader) bool {
		got, found, err := r.Record(k.Record(u))
		must(t, err)
		return found && got.URL == "http://a.example/"
	}
	set := func(tx Tx) error {
		r := record.Record{State: record.Waiting, URL: "http://a.example/"}
		must(t, tx.SetWaiting(k, u, &r))
		if !knows(tx.Reader) {
			t.Error("a transaction does not show what it writes")
		}
		return s.View(func(r Reader) error {
			if knows(r) {
				t.Error("others see what a transaction writes before it ends")
			}
			return nil
		})
	}
	broken := errors.New("broken")
	if err := s.Update(func(tx Tx) error { return errors.Join(set(tx), broken) }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	must(t, s.Update(set))
	must(t, s.View(func(r Reader) error {
		if !knows(r) {
			t.Error("what was written is not known")
		}
		return nil
	}))
}

// TestDelete: the keys under a prefix are deleted, and keys beside it stay.
func TestDelete(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	k := Keys(7)
	left := func() (n int) {
		must(t, s.View(func(r Reader) error {
			return r.Keys(k.All(Updates), func(Key) (bool, error) { n++; return true, nil })
		}))
		return n
	}
	must(t, s.Update(func(tx Tx) error {
		for n := range uint64(10) {
			must(t, tx.Set(k.Update(n), nil))
			must(t, tx.Set(Keys(8).Update(n), nil))
		}
		return nil
	}))
	must(t, s.Update(func(tx Tx) error { return tx.DeleteBelow(k.All(Updates), k.Update(4)) }))
	if left() != 6 {
		t.Errorf("%d are left of 6", left())
	}
	for _, want := range []int{4, 2, 0} {
		must(t, s.Update(func(tx Tx) error {
			n, err := tx.DeleteFirst(k.All(Updates), 4)
			if n != want {
				t.Errorf("%d were deleted, not %d", n, want)
			}
			return err
		}))
	}
	must(t, s.Delete([]Key{Keys(8).Update(0), Keys(8).Update(99)}))
	if k = 8; left() != 9 {
		t.Errorf("%d are left of 9", left())
	}
}

// TestParts: a text that is too long for one value is stored completely, and nothing of the former text is left.
func TestParts(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	under := Keys(1).All(Memories)
	for number, text := range [][]byte{bytes.Repeat([]byte("long "), PartBytes/4), []byte("short")} {
		parts := 0
		must(t, s.Update(func(tx Tx) error {
			for ; parts*PartBytes < len(text); parts++ {
				must(t, tx.SetPart(under, uint64(number+1), parts, text[parts*PartBytes:min((parts+1)*PartBytes, len(text))]))
			}
			return tx.SetParts(under, uint64(number+1), parts)
		}))
		must(t, s.View(func(r Reader) error {
			of, got, err := r.ReadParts(under)
			if of.Number != uint64(number+1) || !bytes.Equal(got, text) {
				t.Errorf("%d bytes of %d, number %d", len(got), len(text), of.Number)
			}
			n := 0
			must(t, r.Keys(under, func(Key) (bool, error) { n++; return true, nil }))
			if n != parts+1 {
				t.Errorf("%d keys for %d parts", n, parts)
			}
			return err
		}))
	}
}

// TestOpen: a second process is refused, a store opens despite the empty log of a killed process, and a closed store returns ErrClosed.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	must(t, s.Close())
	if err := s.View(func(Reader) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "00099.mem"), nil, 0o600))
	full := errors.New("the disk is full")
	s = open(t, dir, Options{Room: func() error { return full }})
	if err := s.Update(func(Tx) error { return nil }); !errors.Is(err, full) {
		t.Errorf("written without room: %v", err)
	}
}

// TestLogOfALargerTable: a process with larger tables was killed; what it wrote is read, and nothing of its log is left.
func TestLogOfALargerTable(t *testing.T) {
	const values, size = 62_000, 1000 // more than a table holds with the room that Badger adds
	former, dir := t.TempDir(), t.TempDir()
	db, err := openDB(former, 2*memTable, Options{NoSync: true})
	must(t, err)
	defer func() { _ = db.Close() }()
	value := bytes.Repeat([]byte{7}, size)
	for first := 0; first < values; first += 1000 {
		must(t, db.Update(func(tx *badger.Txn) error {
			for n := range 1000 {
				if err := tx.Set(Keys(1).Update(uint64(first+n)), value); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	must(t, os.CopyFS(dir, os.DirFS(former))) // as a kill leaves it
	must(t, os.Remove(filepath.Join(dir, "LOCK")))
	s := open(t, dir, Options{})
	found := 0
	must(t, s.db.View(func(tx *badger.Txn) error {
		for n := range values {
			if _, err := tx.Get(Keys(1).Update(uint64(n))); err == nil {
				found++
			}
		}
		return nil
	}))
	if largest, err := largestLog(dir); found != values || err != nil || largest > 2*memTable {
		t.Errorf("%d of %d entries are there; the largest log has %d bytes, %v", found, values, largest, err)
	}
}

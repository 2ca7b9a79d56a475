package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// TestChanges: of each partition the store knows the generation in which it was written last, also after it was opened again; a
// transaction that fails has written nothing.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	open := func() *Store {
		s, err := Open(dir, Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	defer func() { _ = s.Close() }()
	at := func(p Partition) uint64 { return uint64(p) << partitionShift }
	since := func(generation uint64) (list []Partition) {
		err := s.View(func(r Reader) error {
			c, err := r.Changes()
			for p, n := range c.Written {
				if n >= generation {
					list = append(list, Partition(p))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	errNot := errors.New("not this time")
	for _, step := range []struct {
		do    func(tx Tx) error
		fails error
		since uint64
		want  []Partition
	}{
		{do: func(tx Tx) error { return tx.Set(Keys(1).Queue(at(3)), []byte("x")) }, since: 1},
		{do: func(tx Tx) error { tx.NextGeneration(); return nil }, since: 1},
		{do: func(tx Tx) error { return tx.Set(Keys(1).Record(record.Key{PLD: at(0), URL: 1}), []byte("x")) }, since: 1, want: []Partition{0}},
		{do: func(tx Tx) error { return tx.Delete(Keys(2).Delay(5, record.Key{PLD: at(1023) + 7})) }, since: 1, want: []Partition{0, 1023}},
		{do: func(tx Tx) error { return errors.Join(tx.Set(Keys(1).Queue(at(9)), []byte("x")), errNot) }, fails: errNot, since: 1, want: []Partition{0, 1023}},
		{do: func(tx Tx) error { return tx.Set(Keys(1).Plan(), []byte("x")) }, since: 1, want: []Partition{0, 1023}},
		{do: func(tx Tx) error { return tx.Set(Keys(1).Claim("a.example-1"), []byte("x")) }, since: 1, want: []Partition{0, 1023}},
		{do: func(tx Tx) error { return tx.Set(Move(77), nil) }, since: 1, want: []Partition{0, 77, 1023}},
		{do: func(tx Tx) error { tx.NextGeneration(); return tx.Set(Host(at(64)), []byte("x")) }, since: 2, want: []Partition{64}},
		{do: func(tx Tx) error { return tx.Set(Keys(1).Queue(at(0)), []byte("x")) }, since: 2, want: []Partition{0, 64}},
		{do: func(tx Tx) error { return nil }, since: 1, want: []Partition{0, 64, 77, 1023}},
	} {
		if err := s.Update(step.do); !errors.Is(err, step.fails) {
			t.Fatal(err)
		}
		if got := since(step.since); !slices.Equal(got, step.want) {
			t.Errorf("since generation %d %v were written, not %v", step.since, got, step.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open()
	}
}

func BenchmarkNote(b *testing.B) {
	var c changing
	key := Keys(1).Record(record.Key{PLD: 12345678901234567890, URL: 5})
	for b.Loop() {
		c.note(key)
	}
}

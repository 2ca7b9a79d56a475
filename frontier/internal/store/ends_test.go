package store

import "testing"

// TestTablesOverlap: all tables of a store have the same range, however little each process has written: see writeEnds.
func TestTablesOverlap(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"C1", "q2", "x3"} {
		s, err := Open(dir, Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write([]Pair{{Key(key), []byte("value")}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tables := s.db.Tables()
	for _, table := range tables {
		if first, last := table.Left[0], table.Right[0]; first != firstKey || last != lastKey {
			t.Errorf("table %d has the keys from %q to %q", table.ID, table.Left, table.Right)
		}
	}
	if len(tables) == 0 {
		t.Error("there are no tables")
	}
}

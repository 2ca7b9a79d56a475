package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSweep: the files of ended batches are deleted when they are old (by the time of the files, because a growing log does
// not change that of its folder) or when all together are too large, the oldest first. Files of running batches always stay.
func TestSweep(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	const day = 24 * time.Hour
	for name, age := range map[string]time.Duration{"a-1": 9 * day, "b-2": 5 * day, "c-3": 3 * day, "d-4": day, "running-5": 20 * day} {
		b := s.Batch("ravens", name)
		if err := b.Write("state", "0123456789"); err != nil { // 12 bytes
			t.Fatal(err)
		}
		for path, age := range map[string]time.Duration{b.Dir(): 30 * day, filepath.Join(b.Dir(), "state"): age} {
			if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := func(crawl, batch string) bool { return crawl == "ravens" && batch == "running-5" }
	for _, c := range []struct {
		keep Retention
		want []string
		gone Usage
	}{
		{Retention{7 * day, 1000, out}, []string{"b-2", "c-3", "d-4", "running-5"}, Usage{1, 12}},
		{Retention{7 * day, 25, out}, []string{"c-3", "d-4", "running-5"}, Usage{1, 12}},
		{Retention{7 * day, 25, out}, []string{"c-3", "d-4", "running-5"}, Usage{}},
		{Retention{7 * day, 0, out}, []string{"running-5"}, Usage{2, 24}},
	} {
		gone, err := s.Sweep(now, c.keep)
		if err != nil || gone != c.gone {
			t.Errorf("swept %+v, %v, want %+v", gone, err, c.gone)
		}
		folders, err := s.folders()
		var left []string
		for _, f := range folders {
			left = append(left, f.batch)
		}
		if err != nil || !slices.Equal(left, c.want) {
			t.Errorf("left %v, %v, want %v", left, err, c.want)
		}
	}
	if u, err := s.Usage(); err != nil || u != (Usage{1, 12}) {
		t.Errorf("usage %+v, %v", u, err)
	}
	if left, err := os.ReadDir(s.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the folder of temporary files, %v", left, err)
	}
}

// TestSweepOldestFirst: a large folder does not go before an older small one, in a data folder of any name.
func TestSweepOldestFirst(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "data[1]*?\\[")) // characters of patterns
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, f := range []struct{ name, value string }{{"new", "0123456789"}, {"large", strings.Repeat("x", 98)}, {"old", "0123456789"}} {
		b := s.Batch("ravens", f.name)
		if err := b.Write("state", f.value); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(i+1) * time.Hour)
		for _, path := range []string{filepath.Join(b.Dir(), "state"), b.Dir()} {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	none := func(string, string) bool { return false }
	if gone, err := s.Sweep(now, Retention{24 * time.Hour, 30, none}); err != nil || gone != (Usage{2, 112}) {
		t.Errorf("swept %+v, %v", gone, err)
	}
	if left, err := s.folders(); err != nil || len(left) != 1 || left[0].batch != "new" {
		t.Errorf("left %+v, %v", left, err)
	}
}

// TestSweepLooksAgain: a batch that is run again during a sweep keeps its files.
func TestSweepLooksAgain(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Batch("c", "a-1").Write("state", 1); err != nil {
		t.Fatal(err)
	}
	asked := 0
	again := func(string, string) bool { asked++; return asked > 1 }
	if gone, err := s.Sweep(time.Now(), Retention{InUse: again}); err != nil || gone != (Usage{}) || asked != 2 {
		t.Errorf("swept %+v, %v, asked %d times", gone, err, asked)
	}
}

// TestOpenClears: temporary files of an earlier process are deleted when the spool is opened.
func TestOpenClears(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.TempDir(), "body-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

func exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Stat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// A sweep finds the objects of attempts that were cut off, under any prefix. It leaves objects that a manifest names, young objects,
// and objects of other programs that share the store.
func TestSweep(t *testing.T) {
	dir, store := newDir(t)
	s, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	old := now.Add(-48 * time.Hour)
	write := func(key string, at time.Time) string {
		t.Helper()
		name := filepath.Join(dir, filepath.FromSlash(key))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("12345"), 0o644), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	orphan, deep := write("c/data/b-0123456789abcdef.warc.gz", old), write("p/c/data/b-0123456789abcdef.cdxj", old)
	half := write("c/data/.new-123", old)
	write("c/topic/.new-9", old)
	write("c/kb/run-1/.new-9", old)
	write("p/c/definitions/run-1.json", now)
	foreign := []string{"x/data/y", "x/data/dump.sql", "x/data/b-0123456789abcdef.cdxj", "x/data/.new-1", "c/data/dump.sql", "c/data/b-0123.cdxj",
		"c/data/.new-draft", "c/sub/data/b-0123456789abcdef.cdxj", ".new-1", "data/b-0123456789abcdef.cdxj"}
	var keep []string
	for _, key := range foreign {
		keep = append(keep, write(key, old))
	}
	keep = append(keep, write("c/data/b-1123456789abcdef.warc.gz", now), write("c/data/.new-456", now), write("c/reports/run-1.html", old), write("notes/data.txt", old))
	for _, o := range m.Stored() {
		name := filepath.Join(dir, filepath.FromSlash(o.Key))
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
		keep = append(keep, name)
	}
	for _, remove := range []bool{false, true, true} {
		gone := !exists(t, orphan)
		found, err := archive.Sweep(t.Context(), store, now.Add(-24*time.Hour), remove)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, o := range found.Objects {
			keys = append(keys, o.Key)
		}
		slices.Sort(keys)
		want, unfinished, bytes := []string{"c/data/b-0123456789abcdef.warc.gz", "p/c/data/b-0123456789abcdef.cdxj"}, []string{"c/data/.new-123", "c/kb/run-1/.new-9", "c/topic/.new-9"}, int64(10)
		if gone {
			want, unfinished, bytes = nil, nil, 0
		}
		slices.Sort(found.Unfinished)
		if !slices.Equal(keys, want) || !slices.Equal(found.Unfinished, unfinished) || found.Bytes != bytes {
			t.Errorf("found %q and %q, %d bytes", keys, found.Unfinished, found.Bytes)
		}
		for _, name := range []string{orphan, deep, half} {
			if exists(t, name) == remove {
				t.Errorf("remove %v: %s", remove, name)
			}
		}
	}
	for _, name := range keep {
		if !exists(t, name) {
			t.Errorf("%s was swept", name)
		}
	}
}

// The attempt that commits a segment deletes the objects of its other attempts, but not those of batches whose names begin alike.
func TestTidy(t *testing.T) {
	dir, store := newDir(t)
	label := archive.Label{Crawl: "c", Batch: "b", Nonce: "aaaaaaaaaaaaaaaa", Worker: "w"}
	commit := func(l archive.Label) archive.Manifest {
		t.Helper()
		s, err := archive.NewSegment(t.TempDir(), l, epoch, unknown)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Add(plain("http://a.example/"+l.Batch, "<p>"+l.Batch)); err != nil {
			t.Fatal(err)
		}
		m, err := s.Commit(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	other := label
	other.Batch = "b-aaaaaaaaaaaaaaaa" // whose objects are named b-aaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaa-HASH
	commit(other)
	m := commit(label)
	left := filepath.Join(dir, "c/data/b-aaaaaaaaaaaaaaaa-0123456789abcdef.warc.gz")
	if err := os.WriteFile(left, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := archive.Tidy(t.Context(), store, label, &m); err != nil {
		t.Fatal(err)
	}
	if report := check(t, dir); report.Segments != 2 || len(report.Orphans) != 0 {
		t.Errorf("%d segments, orphans %q", report.Segments, report.Orphans)
	}
}

package archive_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// The first write of the manifest's key decides: a segment that was given back is never committed, however late its attempt comes,
// and a committed segment cannot be given back.
func TestGiveBackAndCommit(t *testing.T) {
	t.Run("given back first", func(t *testing.T) {
		dir, store := newDir(t)
		late, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
		for range 2 { // it may be called again
			if err := archive.GiveBack(t.Context(), store, label("b"), epoch); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := late.Commit(t.Context(), store); !errors.Is(err, archive.ErrGivenBack) {
			t.Errorf("a segment that was given back is committed: %v", err)
		}
		if _, err := archive.ReadManifest(t.Context(), store, label("b")); !errors.Is(err, archive.ErrGivenBack) {
			t.Errorf("its manifest is read: %v", err)
		}
		if report := check(t, dir); report.Segments != 0 || report.GivenBack != 1 || len(report.Orphans) != 0 {
			t.Errorf("%+v", report)
		}
		err := archive.Manifests(t.Context(), store, "", "c", func(m archive.Manifest) error {
			t.Errorf("readers see %+v", m)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("committed first", func(t *testing.T) {
		dir, store := newDir(t)
		s, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
		if _, err := s.Commit(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if err := archive.GiveBack(t.Context(), store, label("b"), epoch); !errors.Is(err, archive.ErrExists) {
			t.Errorf("a committed segment is given back: %v", err)
		}
		if report := check(t, dir); report.Segments != 1 {
			t.Errorf("%+v", report)
		}
	})
	t.Run("another life", func(t *testing.T) {
		dir, store := newDir(t)
		if err := archive.GiveBack(t.Context(), store, label("b"), epoch); err != nil {
			t.Fatal(err)
		}
		again := label("b")
		again.Nonce = "0123456789abcdef"
		s, err := archive.NewSegment(t.TempDir(), again, epoch, unknown)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Add(plain("http://a.example/1", "<p>one")); err != nil {
			t.Fatal(err)
		}
		m, err := s.Commit(t.Context(), store)
		if err != nil || m.Segment() != "b-0123456789abcdef" {
			t.Errorf("%q, %v", m.Segment(), err)
		}
		if report := check(t, dir); report.Segments != 1 || report.GivenBack != 1 {
			t.Errorf("%+v", report)
		}
	})
}

// A manifest of another nonce, or of another worker where there was no nonce, says nothing of a segment, though it has its key:
// nobody takes it for its own, and nothing can be committed under the key.
func TestForeignManifest(t *testing.T) {
	const nonce, other = "0123456789abcdef", "fedcba9876543210"
	for name, c := range map[string]struct {
		nonce string // of the life
		there archive.Manifest
		mine  bool
	}{
		"its own":                  {nonce, archive.Manifest{Crawl: "c", Batch: "b", Nonce: nonce, Worker: "w1"}, true},
		"the worker's former name": {nonce, archive.Manifest{Crawl: "c", Batch: "b", Nonce: nonce, Worker: "w0"}, true},
		"another nonce":            {nonce, archive.Manifest{Crawl: "c", Batch: "b", Nonce: other, Worker: "w1"}, false},
		"another batch":            {nonce, archive.Manifest{Crawl: "c", Batch: "b-" + nonce, Worker: "w1"}, false},
		"another crawl":            {nonce, archive.Manifest{Crawl: "d", Batch: "b", Nonce: nonce, Worker: "w1"}, false},
		"given back by another":    {nonce, archive.Manifest{Crawl: "c", Batch: "b", Nonce: other, Worker: "w1", GivenBack: true}, false},
		"an earlier version's":     {"", archive.Manifest{Crawl: "c", Batch: "b", Worker: "w1"}, true},
		"of another worker, of a version without nonces": {"", archive.Manifest{Crawl: "c", Batch: "b", Worker: "w2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := newDir(t)
			mine := label("b")
			mine.Nonce = c.nonce
			raw, err := json.Marshal(c.there)
			if err != nil {
				t.Fatal(err)
			}
			key := archive.Layout{Crawl: "c"}.Manifest(mine.Segment())
			if err := store.PutIfAbsent(t.Context(), key, raw); err != nil {
				t.Fatal(err)
			}
			_, err = archive.ReadManifest(t.Context(), store, mine)
			if c.mine {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, archive.ErrForeign) {
				t.Errorf("it is read as its own: %v", err)
			}
			s, err := archive.NewSegment(t.TempDir(), mine, epoch, unknown)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Add(plain("http://a.example/1", "<p>one")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Commit(t.Context(), store); !errors.Is(err, archive.ErrForeign) || errors.Is(err, archive.ErrExists) {
				t.Errorf("commit: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "c", "data", "*")); len(left) > 0 {
				t.Errorf("its objects stay: %q", left)
			}
			if err := archive.GiveBack(t.Context(), store, mine, epoch); err != nil {
				t.Errorf("give back: %v", err)
			}
		})
	}
}

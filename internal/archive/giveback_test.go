package archive_test

import (
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Whoever comes first at the manifest's key decides: a segment that was given back is never committed, however late its
// attempt comes, and one that is committed is not given back.
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
		if _, err := archive.ReadManifest(t.Context(), store, "", "c", "b"); !errors.Is(err, archive.ErrGivenBack) {
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

package archive_test

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// put commits a segment of a crawl and returns its manifest.
func put(t *testing.T, store archive.Store, l archive.Label) archive.Manifest {
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

// walked are the segments that a walk gives, and what it says of damaged ones.
func walked(t *testing.T, store archive.Store, of archive.Layout) (list, faults []string) {
	t.Helper()
	walk := archive.Walk[struct{}]{Of: of, Damaged: func(err error) error {
		faults = append(faults, err.Error())
		return nil
	}}
	err := walk.Each(t.Context(), store, func(m archive.Manifest, _ struct{}) error {
		list = append(list, m.Segment())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, faults
}

// Manifests of every kind that a version has written fit their keys, under whatever prefix.
func TestManifestsFitTheirKeys(t *testing.T) {
	for _, prefix := range []string{"", "a", "a/b", "a//b/"} {
		_, store := newDir(t)
		of := archive.Layout{Prefix: prefix, Crawl: "c"}
		named := func(batch, nonce string) archive.Label {
			l := label(batch)
			l.Prefix, l.Nonce = prefix, nonce
			return l
		}
		const nonce = "0123456789abcdef"
		list := []archive.Label{
			named("b.example-1@w1.1", nonce), named("b.example-1", ""), named("b-"+nonce, ""), named("b", nonce+"0"), // whose nonce is another form's
			named(archive.EndsBatch(5, "w1"), nonce), named(archive.EndsBatch(5, ""), ""),
		}
		for _, l := range list {
			put(t, store, l)
			if _, err := archive.ReadManifest(t.Context(), store, l); err != nil {
				t.Error(err)
			}
		}
		back := named("back", nonce)
		if err := archive.GiveBack(t.Context(), store, back, epoch); err != nil {
			t.Fatal(err)
		}
		if m, err := archive.ReadSegment(t.Context(), store, of, back.Segment()); err != nil || !m.GivenBack {
			t.Errorf("given back: %+v, %v", m, err)
		}
		if got, faults := walked(t, store, of); len(got) != len(list) || len(faults) > 0 {
			t.Errorf("prefix %q: %q, %q", prefix, got, faults)
		}
		if got, faults := walked(t, store, archive.Layout{Crawl: path.Join(prefix, "c")}); len(got) != len(list) || len(faults) > 0 {
			t.Errorf("crawl with prefix %q: %q, %q", prefix, got, faults)
		}
	}
}

// A manifest is believed only where it stands: one that is another's, or names another's objects, would let captures vanish or come twice.
func TestManifestsAreNotBelieved(t *testing.T) {
	text := func(s string) func(m, other archive.Manifest) []byte {
		return func(archive.Manifest, archive.Manifest) []byte { return []byte(s) }
	}
	changed := func(change func(m *archive.Manifest, other archive.Manifest)) func(m, other archive.Manifest) []byte {
		return func(m, other archive.Manifest) []byte {
			change(&m, other)
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
	}
	for name, make := range map[string]func(m, other archive.Manifest) []byte{
		"empty":               text(`{}`),
		"null":                text(`null`),
		"cut off":             text(`{"crawl":`),
		"too large":           text(`{"crawl":"c","batch":"b"` + strings.Repeat(" ", 1<<20) + `}`),
		"a copy of another's": changed(func(m *archive.Manifest, other archive.Manifest) { *m = other }),
		"of another crawl":    changed(func(m *archive.Manifest, _ archive.Manifest) { m.Crawl = "d" }),
		"of another life":     changed(func(m *archive.Manifest, _ archive.Manifest) { m.Nonce = "0123456789abcdef" }),
		"given back by another": changed(func(m *archive.Manifest, _ archive.Manifest) {
			*m = archive.Manifest{Crawl: "c", Batch: "x", GivenBack: true}
		}),
		"with another's WARC": changed(func(m *archive.Manifest, other archive.Manifest) { m.WARC = other.WARC }),
		"with another's log":  changed(func(m *archive.Manifest, other archive.Manifest) { m.Log = &other.WARC }),
		"with the WARC of a life of the batch": changed(func(m *archive.Manifest, _ archive.Manifest) {
			m.WARC.Key = strings.Replace(m.WARC.Key, "/b-", "/b-0123456789abcdef-", 1)
		}),
		"out of the folder": changed(func(m *archive.Manifest, _ archive.Manifest) {
			m.CDXJ.Key = strings.Replace(m.CDXJ.Key, "/b-", "/b-/../", 1)
		}),
		"of another kind":   changed(func(m *archive.Manifest, _ archive.Manifest) { m.CDXJ.Key += ".html" }),
		"without its index": changed(func(m *archive.Manifest, _ archive.Manifest) { m.CDXJ = archive.Stored{} }),
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := newDir(t)
			of := archive.Layout{Crawl: "c"}
			m, other := put(t, store, label("b")), put(t, store, label("x"))
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(of.Manifest("b"))), make(m, other), 0o600); err != nil {
				t.Fatal(err)
			}
			damaged := (*archive.DamagedError)(nil)
			if _, err := archive.ReadSegment(t.Context(), store, of, "b"); !errors.As(err, &damaged) {
				t.Errorf("read: %v", err)
			}
			if got, faults := walked(t, store, of); len(got) != 1 || got[0] != "x" || len(faults) != 1 || !strings.Contains(faults[0], "c/segments/b.json") {
				t.Errorf("%q, %q", got, faults)
			}
			// Nothing is swept on the word of such a manifest.
			if _, err := archive.Sweep(t.Context(), store, time.Now().Add(time.Hour), true); !errors.As(err, &damaged) {
				t.Errorf("sweep: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(m.WARC.Key))); err != nil {
				t.Error(err)
			}
		})
	}
}

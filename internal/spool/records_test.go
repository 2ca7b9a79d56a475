package spool

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func TestRecords(t *testing.T) {
	b := batch(t)
	if _, err := ReadAll[crawl.Parsed](b, "pages"); !errors.Is(err, ErrMissing) {
		t.Errorf("before writing: %v", err)
	}
	many := crawl.Parsed{Page: crawl.Page{URL: "http://b.test/", Blocks: make([]string, 200_000)}}
	for i := range many.Blocks {
		many.Blocks[i] = "7"
	}
	lists := [][]crawl.Parsed{
		nil,
		{{
			Page:     crawl.Page{URL: "http://a.test/", Title: "not UTF-8: \xff\xc3("},
			Findings: crawl.Findings{Objects: []crawl.Object{{Type: "post", Properties: crawl.Properties{{Name: "\xe9", Value: "\x00"}}}}},
		}},
		{many, {Page: crawl.Page{URL: "http://c.test/", Links: []crawl.Outlink{{URL: "http://d.test/", Hop: crawl.HopLink, Block: -1}}}}},
	}
	for _, list := range lists {
		if err := WriteAll(b, "pages", list); err != nil {
			t.Fatal(err)
		}
		got, err := ReadAll[crawl.Parsed](b, "pages")
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("%d records, want %d: %v", len(got), len(list), err)
		}
	}
	path := filepath.Join(b.Dir(), "pages")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll[crawl.Parsed](b, "pages"); !errors.Is(err, ErrMissing) {
		t.Errorf("cut off: %v", err)
	}
}

func TestSmallFiles(t *testing.T) {
	b := batch(t)
	var got crawl.Target
	if err := b.Read("state", &got); !errors.Is(err, ErrMissing) {
		t.Errorf("before writing: %v", err)
	}
	want := crawl.Target{URL: "http://a.test/", Attempts: 2}
	if err := b.Write("state", want); err != nil {
		t.Fatal(err)
	}
	if err := b.Read("state", &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := b.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := b.Read("state", &got); !errors.Is(err, ErrMissing) {
		t.Errorf("after removal: %v", err)
	}
}

// TestBatchFolders: names with slashes and dots have their own folders inside the spool.
func TestBatchFolders(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range [][2]string{{"a", "b/1"}, {"a/b", "1"}, {"a", "b%2F1"}, {"ä", "../x"}, {"a", "b"}, {"a", ".."}, {"a", "."}, {"a", ""}, {"..", "b"}, {"..", ".."}, {"", ""}, {"a", "..."}} {
		dir := s.Batch(name[0], name[1]).Dir()
		if seen[dir] || filepath.Dir(filepath.Dir(dir)) != filepath.Join(s.dir, "batches") || dir != filepath.Clean(dir) {
			t.Errorf("%q: %s", name, dir)
		}
		seen[dir] = true
	}
}

// TestTorn: a list that was cut off anywhere, also an empty file, counts as missing, not as short.
func TestTorn(t *testing.T) {
	type rec struct{ Name string }
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch("c", "b")
	for _, list := range [][]rec{nil, {{"one"}}, {{"one"}, {"two"}, {"three"}}} {
		if err := WriteAll(b, "list", list); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(b.Dir(), "list")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadAll[rec](b, "list"); err != nil || len(got) != len(list) {
			t.Fatalf("%d records, %v; want %d", len(got), err, len(list))
		}
		for n := range raw {
			if err := os.WriteFile(path, raw[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := ReadAll[rec](b, "list"); !errors.Is(err, ErrMissing) {
				t.Errorf("%d of %d bytes give %d records, %v", n, len(raw), len(got), err)
			}
		}
	}
}

package views_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// TestReadOnce: catalogue and index are filled by one reading of each WARC object, and an index that is filled later has the same.
func TestReadOnce(t *testing.T) {
	where, dir := store(t, t.TempDir()), t.TempDir()
	size := segment(t, where, "c", "a-1@w.1", "http://a.example/", "one", "two", "three", "four").WARC.Bytes
	size += segment(t, where, "c", "b-1@w.1", "http://b.example/", "five", "six").WARC.Bytes
	levels := func(o opened) (list []string) {
		t.Helper()
		a, err := o.Index.Search(t.Context(), query.Query{}, search.Options{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hits {
			list = append(list, fmt.Sprintf("%s %s %s %d %d", h.URL, h.Level, h.Application, h.Status, h.Run))
		}
		slices.Sort(list)
		return list
	}
	derived := open(t, t.TempDir(), nil, where)
	pass(t, derived)
	derived.close()
	from := &counting{Store: where}
	o := open(t, dir, nil, from)
	pass(t, o)
	first := levels(o)
	if want := "http://a.example/ level0 forum 200 1"; len(first) != 6 || first[0] != want || first[2] != "http://a.example/2 level2 forum 200 1" {
		t.Errorf("%q", first)
	}
	if n := from.bytes.Load(); n != size {
		t.Errorf("%d bytes of WARC objects were read, of %d", n, size)
	}
	o.close()
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil { // the catalogue stays, and reads nothing
		t.Fatal(err)
	}
	o = open(t, dir, nil, from)
	pass(t, o)
	if again := levels(o); !slices.Equal(again, first) {
		t.Errorf("%q, want %q", again, first)
	}
	o.close()
	added := open(t, t.TempDir(), func(c *views.Config) { c.Derive = false }, from)
	from.bytes.Store(0)
	names, err := views.Segments(t.Context(), archive.CrawlAt{Name: "c"}, from)
	if err == nil {
		_, err = added.Add(t.Context(), archive.CrawlAt{Name: "c"}, from, names)
	}
	if n := from.bytes.Load(); err != nil || n != size || !slices.Equal(levels(added), first) {
		t.Errorf("by Add: %d bytes of %d, %v, %q", n, size, err, levels(added))
	}
	added.close()
}

package bleve

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// sizeOf is the size of an index of segments, in bytes.
func sizeOf(t *testing.T, list []search.Segment) (size int64) {
	t.Helper()
	dir := t.TempDir()
	x, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if err := x.AddSegment(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestCrawledAgain: texts of unchanged captures would make the index as much larger as a crawl is repeated, which is why they have none
// (docs/architecture/search.md). If they cost less than half of that, they can be indexed.
func TestCrawledAgain(t *testing.T) {
	var once search.Segment
	if err := searchtest.Big(200, func(s search.Segment) error { once = s; return nil }); err != nil {
		t.Fatal(err)
	}
	again := once
	again.Name, again.Anchors, again.Documents = "again", nil, append([]search.Document(nil), once.Documents...)
	for i := range once.Documents { // of one month, as a crawl is, and unchanged in the next
		once.Documents[i].Date = time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC)
		again.Documents[i].Date = time.Date(2026, 4, 1, 0, 0, i, 0, time.UTC)
	}
	first, second := sizeOf(t, []search.Segment{once}), sizeOf(t, []search.Segment{once, again})
	t.Logf("%d bytes, with unchanged captures %d: %.2f times", first, second, float64(second)/float64(first))
	if second < first*3/2 {
		t.Errorf("unchanged captures make an index of %d bytes one of %d: they can be indexed", first, second)
	}
}

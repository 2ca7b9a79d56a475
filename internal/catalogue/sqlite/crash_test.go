package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

func segment(name string, n int) catalogue.Segment {
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "c"}, Name: name}, WARC: "c/data/" + name + ".warc.gz"}
	for i := range n {
		s.Entries = append(s.Entries, catalogue.Entry{Indexed: archive.Indexed{
			URL: fmt.Sprintf("http://h%d.example/%s", i%40, name), Date: time.Date(2026, 3, 4, 5, 6, i, 0, time.UTC), Status: 200, Offset: int64(i), Digest: "sha1:A",
		}})
	}
	return s
}

func count(t testing.TB, c catalogue.Catalogue) (n int) {
	t.Helper()
	err := c.Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(catalogue.Entry) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCutOff: a segment that was cut off while its captures were written is not seen, and is added again whole.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	c := openIn(t, dir)
	whole, cut := segment("whole", 50), segment("cut", 50)
	if err := c.AddSegments(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	// The first two steps of AddSegments, in half of the shards.
	normal, err := cut.Normal()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.main.inTx(t.Context(), func(tx *sql.Tx) error { return name(t.Context(), tx, []catalogue.Segment{normal}) }); err != nil {
		t.Fatal(err)
	}
	left := 0
	for i := range normal.Entries {
		e := &normal.Entries[i]
		shard := c.shardOf(catalogue.PLDOf(e.Key))
		if shard >= len(c.shards)/2 {
			continue
		}
		left++
		if err := c.shards[shard].inTx(t.Context(), func(tx *sql.Tx) error { return put(t.Context(), tx, []*catalogue.Entry{e}) }); err != nil {
			t.Fatal(err)
		}
	}
	if left == 0 || left == 50 {
		t.Fatalf("%d captures were left by the cut", left)
	}
	for range 2 {
		if has, err := c.HasSegment(t.Context(), cut.SegmentName); has || err != nil {
			t.Errorf("%v, %v", has, err)
		}
		if n := count(t, c); n != 50 {
			t.Errorf("%d captures are seen of 50", n)
		}
		c = openIn(t, dir) // as after a crash
	}
	if err := c.AddSegments(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	if n := count(t, c); n != 100 {
		t.Errorf("%d captures are seen of 100", n)
	}
}

// TestOpen: a catalogue stays in its folder; that of another version is refused; two processes may have it open.
func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder", "made?#%41")
	c := openIn(t, dir)
	if err := c.AddSegments(t.Context(), segment("s", 30)); err != nil {
		t.Fatal(err)
	}
	other := openIn(t, dir)
	if err := other.AddSegments(t.Context(), segment("s", 30), segment("s2", 30)); err != nil {
		t.Fatal(err)
	}
	if n, m := count(t, c), count(t, other); n != 60 || m != 60 {
		t.Errorf("%d and %d captures of 60", n, m)
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); err != nil || len(files) != 1 {
		t.Errorf("files beside the folder: %v, %v", files, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "captures-000.db")); err != nil {
		t.Error(err)
	}
	if _, err := c.main.ExecContext(t.Context(), `UPDATE about SET value = 99 WHERE name = 'version'`); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(context.Background(), dir); !errors.Is(err, catalogue.ErrVersion) {
		t.Errorf("version 99: %v, %v", c, err)
	}
}

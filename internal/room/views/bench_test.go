package views_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
)

// counting counts the bytes of WARC objects that are read, and the calls that open an object.
type counting struct {
	archive.Store
	bytes, opened atomic.Int64
}

func (c *counting) count(key string, r io.ReadCloser, err error) (io.ReadCloser, error) {
	c.opened.Add(1)
	if err != nil || !strings.HasSuffix(key, ".warc.gz") {
		return r, err
	}
	return &counted{r, &c.bytes}, nil
}

func (c *counting) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := c.Store.Get(ctx, key)
	return c.count(key, r, err)
}

func (c *counting) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := c.Store.GetRange(ctx, key, offset, length)
	return c.count(key, r, err)
}

type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// nothing is a catalogue and an index that keep nothing: what is left is the reading.
type nothing struct{ catalogue.Catalogue }

func (nothing) AddSegments(context.Context, ...catalogue.Segment) error { return nil }
func (nothing) HasSegment(context.Context, catalogue.SegmentName) (bool, error) {
	return false, nil
}

type noIndex struct{ search.Index }

func (noIndex) AddSegment(context.Context, search.Segment) error             { return nil }
func (noIndex) HasSegment(context.Context, search.SegmentName) (bool, error) { return false, nil }

// BenchmarkPass builds views of an archive whose texts are derived, into a catalogue and an index that keep nothing. MUNINN_VIEWS_ARCHIVE names a folder in place of
// the archive that it makes: 40 segments of 32 pages of 20 KB. It is only read. warc-reads is how often a byte of a WARC object is read.
func BenchmarkPass(b *testing.B) {
	dir := os.Getenv("MUNINN_VIEWS_ARCHIVE")
	if dir == "" {
		dir = b.TempDir()
		random := rand.New(rand.NewPCG(1, 2))
		to, err := archive.OpenDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		for n := range 40 {
			var pages []string
			for range 32 {
				var text strings.Builder
				for text.Len() < 20_000 {
					fmt.Fprintf(&text, "<p>word%d and word%d", random.IntN(40_000), random.IntN(4000))
				}
				pages = append(pages, text.String())
			}
			segment(b, to, "c", fmt.Sprintf("a-%d@w.1", n), fmt.Sprintf("http://a.example/%d/", n), pages...)
		}
	}
	plain, err := archive.OpenDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	of := func(store archive.Store) *views.Views {
		return views.New(views.Config{Archives: []archive.Store{store}, Catalogue: nothing{}, Index: noIndex{}, Derive: true, Dir: b.TempDir(), Now: time.Now})
	}
	if err := of(plain).Pass(b.Context()); err != nil { // it derives
		b.Fatal(err)
	}
	size, segments := int64(0), 0
	_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, _ error) error {
		if strings.HasSuffix(name, ".warc.gz") {
			info, err := d.Info()
			if err != nil {
				return err
			}
			size, segments = size+info.Size(), segments+1
		}
		return nil
	})
	store := &counting{Store: plain}
	begun, n := cputime.Used(), 0
	for b.Loop() {
		if err := of(store).Pass(b.Context()); err != nil {
			b.Fatal(err)
		}
		n++
	}
	perSegment := float64(n * segments)
	b.ReportMetric(float64(cputime.Used()-begun)/1e6/perSegment, "cpu-ms/segment")
	b.ReportMetric(float64(store.bytes.Load())/float64(n)/float64(size), "warc-reads")
	b.ReportMetric(float64(store.bytes.Load())/perSegment/1e3, "warc-kB/segment")
	b.ReportMetric(float64(store.opened.Load())/perSegment, "opened/segment")
}

package views_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
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

// listing is an archive of a crawl with many segments, all of them derived. It counts the calls of a service that names 1,000 keys a call.
type listing struct {
	archive.Store
	keys         map[string][]string // by prefix
	calls, reads int
}

func newListing(segments int) *listing {
	l := &listing{keys: map[string][]string{"": {"c/segments/a-1@w.1-0123456789abcdef.json"}}}
	for i := range segments {
		name := fmt.Sprintf("host%06d.example-%d@w.1-0123456789abcdef.json", i, i)
		l.keys["c/segments/"] = append(l.keys["c/segments/"], "c/segments/"+name)
		l.keys["c/derived/text-1/"] = append(l.keys["c/derived/text-1/"], "c/derived/text-1/"+name)
	}
	return l
}

func (l *listing) String() string { return "many" }

func (l *listing) List(_ context.Context, prefix string, fn func(archive.Object) error) error {
	keys := l.keys[prefix]
	if strings.HasPrefix(prefix, "c/derived/") {
		keys = l.keys["c/derived/text-1/"]
	}
	l.calls += 1 + len(keys)/1000
	for _, key := range keys {
		if err := fn(archive.Object{Key: key}); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) Get(context.Context, string) (io.ReadCloser, error) {
	l.reads++
	return nil, archive.ErrNotFound
}

// full are a catalogue and an index that have every segment.
type (
	fullCatalogue struct{ catalogue.Catalogue }
	fullIndex     struct{ search.Index }
)

func (fullCatalogue) HasSegment(context.Context, catalogue.SegmentName) (bool, error) {
	return true, nil
}
func (fullIndex) HasSegment(context.Context, search.SegmentName) (bool, error) { return true, nil }

// TestPassCheap: a pass over an archive of which the views have everything lists the manifests once, and reads none: also the first one of a process.
func TestPassCheap(t *testing.T) {
	l := newListing(10_500)
	v := views.New(views.Config{Archives: []archive.Store{l}, Catalogue: fullCatalogue{}, Index: fullIndex{}, Derive: true, Now: time.Now})
	for range 2 {
		l.calls = 0
		if err := v.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.calls > 12 || l.reads > 0 { // 11 of manifests, one of crawls
			t.Errorf("%d calls to list, %d objects read", l.calls, l.reads)
		}
	}
}

// BenchmarkPassOver is such a pass over 10^5 manifests, the first one of a process apart.
func BenchmarkPassOver(b *testing.B) {
	l := newListing(100_000)
	v := views.New(views.Config{Archives: []archive.Store{l}, Catalogue: fullCatalogue{}, Index: fullIndex{}, Derive: true, Now: time.Now})
	begun := time.Now()
	_ = v.Pass(b.Context())
	first, reads := time.Since(begun), l.reads
	l.calls, l.reads = 0, 0
	n := 0
	for b.Loop() {
		_ = v.Pass(b.Context())
		n++
	}
	b.ReportMetric(float64(l.calls)/float64(n), "lists/pass")
	b.ReportMetric(float64(l.reads)/float64(n), "reads/pass")
	b.ReportMetric(float64(reads), "reads/first")
	b.ReportMetric(float64(first.Milliseconds()), "ms/first")
}

package catalogue_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
)

// TestNearest: captures answer for a URL by how alike their URLs are, then by time.
func TestNearest(t *testing.T) {
	var entries []catalogue.Entry
	for i, e := range []struct {
		url    string
		status int
	}{{"http://a.example/x/", 301}, {"https://a.example/x", 200}, {"http://a.example/x", 200}, {"http://a.example/x", 304}, {"HTTP://a.example/x", 200}, {"https://a.example/X", 404}} {
		at := time.Unix(int64(1000+i), 0)
		entries = append(entries, catalogue.Entry{Indexed: archive.Indexed{URL: e.url, Status: e.status, Date: at, Offset: int64(i)}})
	}
	c := filled(t, entries)
	enough := errors.New("enough")
	for _, test := range []struct {
		url   string
		q     catalogue.Query
		order []int64 // offsets
	}{
		{"http://a.example/x", catalogue.Query{Sort: catalogue.Closest, Closest: time.Unix(1000, 0)}, []int64{2, 3, 4, 1, 5, 0}},
		{"http://a.example/x", catalogue.Query{Sort: catalogue.Reverse}, []int64{3, 2, 4, 5, 1, 0}},
		{"a.example/x", catalogue.Query{Sort: catalogue.Reverse}, []int64{4, 3, 2, 5, 1, 0}},
		{"https://a.example/X", catalogue.Query{Sort: catalogue.Closest, Closest: time.Unix(1000, 0)}, []int64{5, 1, 2, 3, 4, 0}},
		{"http://a.example/x/", catalogue.Query{Sort: catalogue.Closest, Closest: time.Unix(1003, 0), From: time.Unix(1003, 0)}, []int64{3, 4, 5}},
		{"http://a.example/none", catalogue.Query{Sort: catalogue.Reverse}, nil},
	} {
		for n := range len(test.order) + 1 { // it ends where fn ends it
			var got []int64
			test.q.URL = test.url
			err := catalogue.Nearest(t.Context(), c, test.q, func(e catalogue.Entry) error {
				if got = append(got, e.Offset); len(got) == n {
					return enough
				}
				return nil
			})
			want := test.order
			if n > 0 {
				want = want[:n]
			}
			if !slices.Equal(got, want) || (n > 0) != errors.Is(err, enough) {
				t.Errorf("%s, %d: %v, %v, want %v", test.url, n, got, err, want)
			}
		}
	}
	var wrong *catalogue.QueryError
	if err := catalogue.Nearest(t.Context(), c, catalogue.Query{URL: "http://", Sort: catalogue.Reverse}, nil); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if err := catalogue.Nearest(t.Context(), c, catalogue.Query{URL: "http://a.example/", Limit: 1}, nil); err == nil {
		t.Error("a limit is taken")
	}
}

// filled is a catalogue with captures, in one segment; it is closed with the test.
func filled(t *testing.T, entries []catalogue.Entry) catalogue.Catalogue {
	t.Helper()
	c, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "c"}, Name: "s"}, WARC: "w", Entries: entries}
	if err := c.AddSegments(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return c
}

package catalogue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// TestOriginalOf: the original is what the record names, else what has its payload.
func TestOriginalOf(t *testing.T) {
	var entries []catalogue.Entry
	for i, e := range []struct {
		url, digest string
		revisit     bool
		at          int64
	}{
		0: {"http://a.example/", "sha1:A", false, 1000},
		1: {"http://a.example/", "sha1:B", false, 2000},
		2: {"http://a.example/", "sha1:A", true, 2001},
		3: {"http://a.example/", "sha1:A", false, 3000},
		4: {"http://b.example/", "sha1:C", false, 1000},
		5: {"http://b.example/x", "sha1:D", true, 1000},
		6: {"http://a.example/", "", false, 4000},
	} {
		entries = append(entries, catalogue.Entry{Indexed: archive.Indexed{URL: e.url, Digest: e.digest, Revisit: e.revisit, Status: 200, Date: time.Unix(e.at, 0), Offset: int64(i)}})
	}
	c := filled(t, entries)
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	for _, test := range []struct {
		name, digest string
		of           catalogue.Original
		want         int64 // offset; -1: none
	}{
		{"the one that is named", "sha1:A", catalogue.Original{URL: "http://a.example/", Date: at(1000)}, 0},
		{"the other one of that payload", "sha1:A", catalogue.Original{URL: "http://a.example/", Date: at(3000)}, 3},
		{"the nearest of the URL, no revisit", "sha1:A", catalogue.Original{URL: "http://a.example/", Date: at(2001)}, 3},
		{"another payload at that time", "sha1:B", catalogue.Original{URL: "http://a.example/", Date: at(1000)}, 1},
		{"a URL without a time", "sha1:A", catalogue.Original{URL: "http://a.example/"}, 0},
		{"the payload of another URL", "sha1:C", catalogue.Original{URL: "http://a.example/", Date: at(1000)}, 4},
		{"what is no URL", "sha1:C", catalogue.Original{URL: "http://", Date: at(1000)}, 4},
		{"nothing is named", "sha1:B", catalogue.Original{}, 1},
		{"only revisits", "sha1:D", catalogue.Original{URL: "http://b.example/x", Date: at(1000)}, -1},
		{"unknown", "sha1:E", catalogue.Original{URL: "http://b.example/", Date: at(1000)}, -1},
		{"no digest", "", catalogue.Original{URL: "http://a.example/", Date: at(4000)}, 6},
		{"no digest, nothing is named", "", catalogue.Original{}, -1},
	} {
		e, err := catalogue.OriginalOf(t.Context(), c, &catalogue.Entry{Indexed: archive.Indexed{Digest: test.digest, Revisit: true}, Original: test.of})
		if test.want < 0 {
			if !errors.Is(err, catalogue.ErrNoOriginal) {
				t.Errorf("%s: %+v, %v", test.name, e, err)
			}
		} else if err != nil || e.Offset != test.want {
			t.Errorf("%s: %d, %v, want %d", test.name, e.Offset, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := catalogue.OriginalOf(ctx, c, &catalogue.Entry{Indexed: archive.Indexed{Digest: "sha1:A"}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// looked counts the captures that a query has looked at.
type looked struct {
	catalogue.Catalogue
	revisits, seen int
}

func (l *looked) Shards(catalogue.Span) []int { return []int{0} }

func (l *looked) Page(_ context.Context, _ int, w catalogue.Window, n int) (page []catalogue.Row, next catalogue.Position, more bool, err error) {
	for range n {
		page = append(page, catalogue.Row{Entry: catalogue.Entry{Indexed: archive.Indexed{URL: "http://a.example/", Digest: w.Digest, Revisit: true}}})
		l.seen++
	}
	return page, w.After, l.seen < l.revisits, nil
}

func (l *looked) Query(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	return catalogue.Scan(ctx, l, q, fn)
}

// TestOriginalBounded: of a payload with a million revisits not all are looked at.
func TestOriginalBounded(t *testing.T) {
	l := &looked{revisits: 1_000_000}
	if _, err := catalogue.OriginalOf(t.Context(), l, &catalogue.Entry{Indexed: archive.Indexed{Digest: "sha1:A"}}); !errors.Is(err, catalogue.ErrNoOriginal) || l.seen > 110_000 {
		t.Errorf("%v, %d captures were looked at", err, l.seen)
	}
}

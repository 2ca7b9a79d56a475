package searchtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/search"
)

// testFold: of hits with the same content the first stays, with the number of the others.
func testFold(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(5, 4, 60)
	x := opened(t, empty, segments...)
	for _, text := range []string{"", "house OR Haus", "type:page"} {
		plain := find(t, x, text, search.Options{Limit: all})
		var want []search.Hit
		at := map[string]int{}
		for _, h := range plain.Hits {
			if i, known := at[h.Content]; known {
				want[i].Duplicates++
				continue
			}
			at[h.Content] = len(want)
			want = append(want, h)
		}
		if len(want) == len(plain.Hits) {
			t.Errorf("%q: the corpus has no duplicates", text)
		}
		got := find(t, x, text, search.Options{Limit: all, Fold: true})
		if got.Total != plain.Total || !reflect.DeepEqual(got.Hits, want) {
			t.Errorf("%q: %d of %d hits, want %d", text, len(got.Hits), got.Total, len(want))
		}
		page := find(t, x, text, search.Options{Limit: 7, Offset: 10, Fold: true})
		if !slices.Equal(names(page.Hits), names(want[10:17])) {
			t.Errorf("%q: from 10 on %v, want %v", text, names(page.Hits), names(want[10:17]))
		}
	}
}

// testAgain: a segment that is added again changes nothing, also after the index was opened again.
func testAgain(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(6, 3, 30)
	place := empty(t)
	x := place.Open(t)
	ctx := context.Background()
	for i, s := range segments {
		if has, err := x.HasSegment(ctx, s.SegmentName); has || err != nil {
			t.Errorf("segment %d is there before: %v, %v", i, has, err)
		}
		add(t, x, s)
		if has, err := x.HasSegment(ctx, s.SegmentName); !has || err != nil {
			t.Errorf("segment %d is not there: %v, %v", i, has, err)
		}
	}
	o := search.Options{Limit: all, Facets: true, Histogram: true}
	before := find(t, x, "house OR Haus", o)
	add(t, x, segments...)
	if after := find(t, x, "house OR Haus", o); !reflect.DeepEqual(before, after) {
		t.Errorf("added twice: %d hits, before %d", after.Total, before.Total)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = place.Open(t)
	defer func() { _ = x.Close() }()
	add(t, x, segments...)
	if after := find(t, x, "house OR Haus", o); !reflect.DeepEqual(before, after) {
		t.Errorf("opened again: %d hits, before %d", after.Total, before.Total)
	}
	if has, err := x.HasSegment(ctx, search.SegmentName{Crawl: "crawl 0", Name: "other"}); has || err != nil {
		t.Errorf("there is a segment that was not added: %v, %v", has, err)
	}
}

// testOrder: an index that is built again, in another order, gives the same answers.
func testOrder(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(7, 6, 30)
	x := opened(t, empty, segments...)
	slices.Reverse(segments)
	y := opened(t, empty, segments...)
	for _, text := range slices.Concat(operators, Queries(8, 30)) {
		o := search.Options{Limit: 50, Facets: true, Histogram: true}
		a, b := find(t, x, text, o), find(t, y, text, o)
		if !slices.Equal(names(a.Hits), names(b.Hits)) {
			t.Errorf("%s: %v, built again %v", text, names(a.Hits), names(b.Hits))
		}
		if a.Total != b.Total || !reflect.DeepEqual(a.Facets, b.Facets) {
			t.Errorf("%s: %d found, built again %d", text, a.Total, b.Total)
		}
	}
}

// testPages: hits that are asked for in parts are those that are asked for at once, in the order of their rank.
func testPages(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(9, 4, 40)
	x := opened(t, empty, segments...)
	for _, text := range []string{"", "house", "the OR der"} {
		whole := find(t, x, text, search.Options{Limit: 60})
		var parts []string
		for offset := 0; offset < 60; offset += 13 {
			parts = append(parts, names(find(t, x, text, search.Options{Limit: min(13, 60-offset), Offset: offset}).Hits)...)
		}
		if !slices.Equal(parts, names(whole.Hits)) {
			t.Errorf("%q: in parts %v, whole %v", text, parts, names(whole.Hits))
		}
		for i := range whole.Hits[1:] {
			if whole.Hits[i].Rank < whole.Hits[i+1].Rank {
				t.Errorf("%q: hit %d has rank %g, the next %g", text, i, whole.Hits[i].Rank, whole.Hits[i+1].Rank)
			}
		}
	}
	newest := find(t, x, "status:200", search.Options{Limit: 60}).Hits
	for i := range newest[1:] {
		if newest[i].Date.Before(newest[i+1].Date) {
			t.Errorf("without words, hit %d is of %v, the next of %v", i, newest[i].Date, newest[i+1].Date)
		}
	}
}

func testOptions(t *testing.T, empty func(t *testing.T) Place) {
	x := opened(t, empty, Corpus(10, 1, 5)...)
	for _, test := range []struct {
		o    search.Options
		want string
	}{
		{search.Options{Limit: -1}, "must not be negative"},
		{search.Options{Limit: search.MaxHits + 1}, "ask for at most 1000 hits"},
		{search.Options{Limit: 10, Offset: search.MaxReach}, "narrow the query"},
	} {
		if _, err := x.Search(context.Background(), parse(t, ""), test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.o, err, test.want)
		}
	}
	a := find(t, x, "", search.Options{})
	if a.Hits != nil || a.Facets != nil || a.Months != nil || a.Total < 5 {
		t.Errorf("%+v has what was not asked for", a)
	}
	if a := find(t, x, "", search.Options{Limit: 10, Offset: 9000}); len(a.Hits) != 0 {
		t.Errorf("%d hits beyond the end", len(a.Hits))
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(ended, parse(t, "house"), search.Options{Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search whose caller has left: %v", err)
	}
}

// testConcurrent: segments are added, some of them twice, while the index is searched.
func testConcurrent(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(13, 6, 10)
	x := opened(t, empty)
	q := parse(t, "house OR Haus")
	var group sync.WaitGroup
	for i := range 2 * len(segments) {
		group.Go(func() {
			if err := x.AddSegment(context.Background(), segments[i%len(segments)]); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			if _, err := x.Search(context.Background(), q, search.Options{Limit: 5, Facets: true, Fold: true}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, text := range []string{"", "house OR Haus", "type:post"} {
		compare(t, x, segments, text)
	}
}

func testEmpty(t *testing.T, empty func(t *testing.T) Place) {
	x := opened(t, empty)
	if a := find(t, x, "house", search.Options{Limit: 10, Facets: true, Histogram: true, Fold: true}); a.Total != 0 || len(a.Hits) != 0 {
		t.Errorf("an empty index answers %+v", a)
	}
	name := search.SegmentName{Crawl: "c", Name: "s"}
	add(t, x, search.Segment{SegmentName: name})
	if has, err := x.HasSegment(context.Background(), name); !has || err != nil {
		t.Errorf("a segment without documents: %v, %v", has, err)
	}
}

package bleve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// ofMonth is a segment with pages of a month.
func ofMonth(name string, month time.Month, pages int) search.Segment {
	s := search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: name}}
	for i := range pages {
		p := search.Page{Facts: query.Facts{Crawl: "c", URL: fmt.Sprintf("https://a.example/%s/%d", name, i), Date: time.Date(2026, month, 1, 0, 0, i, 0, time.UTC), Language: "en", Text: "common words"}}
		s.Documents = append(s.Documents, p.Documents()...)
	}
	return s
}

// TestQuiet: a month that gets no more documents is merged to one segment, and not again for a few that come later.
func TestQuiet(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	n := 0
	add := func(month time.Month, segments, pages int) {
		for range segments {
			n++
			if err := x.AddSegment(t.Context(), ofMonth(fmt.Sprint(n), month, pages)); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(month int) []int {
		sizes, err := x.crawls["c"].months[month].segments()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(sizes)
		return sizes
	}
	const pages = 3 * 1000 // segments of fewer are merged at once
	add(time.March, 3, pages/3)
	add(time.April, quietAfter-1, 1)
	if got := of(0); len(got) != 3 {
		t.Fatalf("March has segments of %d before it is quiet", got)
	}
	add(time.April, 1, 1)
	if got := of(0); !slices.Equal(got, []int{pages}) {
		t.Errorf("March has segments of %d documents when it is quiet", got)
	}
	add(time.March, 1, pages/quietPart-1)
	add(time.April, quietAfter, 1)
	if got := of(0); len(got) != 2 {
		t.Errorf("March is merged again, to %d, for a few documents", got)
	}
	add(time.March, 1, 2*pages/quietPart)
	add(time.April, quietAfter, 1)
	if got := of(0); !slices.Equal(got, []int{pages + 3*pages/quietPart - 1}) {
		t.Errorf("March has segments of %d documents when it is quiet again", got)
	}
	if a := ask(t, x, "common date:2026-03", search.Options{}); a.Total != pages+3*pages/quietPart-1 {
		t.Errorf("%d pages of March are found", a.Total)
	}
}

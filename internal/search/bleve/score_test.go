package bleve

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

func ask(t *testing.T, x search.Index, text string, o search.Options) search.Answer {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := x.Search(context.Background(), q, o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// crowded is a segment of three months in which nearly all pages have the words "common" and "usual", every second "half", and a few "seldom" or "scarce".
func crowded(pages int) search.Segment {
	r := rand.New(rand.NewSource(3))
	s := search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: "s"}}
	for i := range pages {
		words := strings.Fields(strings.Repeat("common ", r.Intn(8)) + strings.Repeat("usual ", r.Intn(8)) + strings.Repeat("half ", r.Intn(2)) + strings.Repeat("filler ", 1+r.Intn(9)))
		if r.Intn(40) == 0 {
			words = append(words, []string{"seldom", "scarce"}[r.Intn(2)])
		}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		title := []string{"", "", "common", "seldom half"}[max(0, r.Intn(40)-36)]
		p := search.Page{Facts: query.Facts{Crawl: "c", URL: fmt.Sprintf("https://a.example/%d", i), Date: time.Date(2026, time.Month(3+i%3), 1, 0, 0, r.Intn(50), 0, time.UTC), Status: 200, Language: "en",
			Score: float64(r.Intn(5)) / 4, Digest: fmt.Sprint(i), Title: title, Text: strings.Join(words, " ")}}
		s.Documents = append(s.Documents, p.Documents()...)
		s.Anchors = append(s.Anchors, search.Anchor{URL: fmt.Sprintf("https://a.example/%d", r.Intn(pages)), Text: []string{"common link", "a usual link"}[r.Intn(2)], Language: "en"})
	}
	return s
}

// TestPruned: documents that are left out because they cannot be among the highest any more are not among them: few hits are the first of many, for which nothing
// is left out.
func TestPruned(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	if err := x.AddSegment(context.Background(), crowded(24*pruneFrom)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"seldom OR common", "common OR usual OR scarce", "common OR usual", "(seldom OR scarce) common", "seldom OR (common -usual)", "half OR (seldom common)", `"common usual" OR scarce`} {
		for _, limit := range []int{1, 10, 40} {
			few, many := ask(t, x, text, search.Options{Limit: limit}), ask(t, x, text, search.Options{Limit: search.MaxHits})
			if few.Total != many.Total || !reflect.DeepEqual(few.Hits, many.Hits[:min(limit, len(many.Hits))]) {
				t.Errorf("%s: the first %d of %d are not the first of all", text, limit, many.Total)
			}
		}
	}
}

// TestColumns: answers are the same if values are kept in memory and if there is no place for them; tables of segments that are gone make place.
func TestColumns(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	o := search.Options{Limit: 50, Facets: true, Histogram: true}
	queries := slices.Concat(searchtest.Queries(9, 40), []string{"", "house", "date:2024-06-05..2024-06-20", "score:>0.5"})
	for _, s := range searchtest.Corpus(11, 6, 60) {
		if err := x.AddSegment(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		ask(t, x, "", o)
	}
	kept := x.columns
	if len(kept.kept) == 0 || kept.bytes <= 0 {
		t.Fatalf("%d tables of %d bytes are kept", len(kept.kept), kept.bytes)
	}
	x.mu.RLock()
	views, _, _, err := x.views(query.Query{})
	if err != nil {
		t.Fatal(err)
	}
	pages, links, err := x.unitsOf(views)
	if err != nil || closeViews(views) != nil {
		t.Fatal(err)
	}
	x.mu.RUnlock()
	if n := len(pages) + len(links); len(kept.kept) > n {
		t.Errorf("%d tables are kept of %d segments", len(kept.kept), n)
	}
	for _, text := range queries {
		x.columns = kept
		with := ask(t, x, text, o)
		x.columns = newColumns()
		x.columns.bytes = maxColumns
		if without := ask(t, x, text, o); !reflect.DeepEqual(with, without) {
			t.Errorf("%s: %d with tables, %d without", text, with.Total, without.Total)
		}
		if len(x.columns.kept) > 0 {
			t.Fatal("a table is kept that has no place")
		}
		if !x.columns.passing.TryAcquire(maxPassing) {
			t.Fatalf("%s: the memory of a table that is not kept is still taken", text)
		}
	}
}

// TestPassing: a table that has no place takes of the memory of such tables until it is done.
func TestPassing(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	if err := x.AddSegment(t.Context(), ofMonth("s", time.March, 10)); err != nil {
		t.Fatal(err)
	}
	views, _, _, err := x.views(query.Query{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closeViews(views) }()
	pages, _, err := x.unitsOf(views)
	if err != nil {
		t.Fatal(err)
	}
	c := newColumns()
	c.bytes = maxColumns
	_, done, err := c.of(t.Context(), pages[0], pages[0].all)
	if err != nil {
		t.Fatal(err)
	}
	if c.passing.TryAcquire(maxPassing - 10*rowBytes + 1) {
		t.Error("the table takes no memory")
	}
	if done(); !c.passing.TryAcquire(maxPassing) {
		t.Error("the memory is not given back")
	}
}

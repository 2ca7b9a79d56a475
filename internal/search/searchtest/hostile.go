package searchtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// The bounds of an answer to a hostile query on a small index. The time is that of processors; tests that run beside have a part of it.
const (
	hostileTime   = 5 * time.Second
	hostileMemory = 256 << 20 // allocated altogether
)

// testHostile: queries that are as large as they may be, or larger, are answered or refused in bounded time and memory.
func testHostile(t *testing.T, empty func(t *testing.T) Place) {
	repeated := strings.Repeat("one two ", 4000)
	documents := append(filler(200), page("repeated", "", repeated), page("same", "", strings.Repeat("a ", 20_000)), page("binary", "\xff\xfe\x00", "\x00\xff "+strings.Repeat("\u0301", 1000)),
		page("words", "", strings.Repeat(strings.Repeat("x", 100)+" ", 100)), page(strings.Repeat("p", 3000), "", "long address"))
	x := opened(t, empty, segment("s", documents...))
	most, words := query.MaxTerms, make([]string, query.MaxTerms)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
	}
	nested := strings.Repeat("-(a OR ", query.MaxDepth/2-1) + "b" + strings.Repeat(")", query.MaxDepth/2-1)
	for _, test := range []struct {
		name, text string
		refused    bool
	}{
		{"100,000 words", strings.Repeat("word ", 100_000), true},
		{"100,000 alternatives", strings.Repeat("word OR ", 100_000) + "word", true},
		{"100,000 parentheses", strings.Repeat("(", 100_000), true},
		{"many parentheses", strings.Repeat("(", 4000) + "a" + strings.Repeat(")", 4000), true},
		{"many minus signs", strings.Repeat("-", 8000) + "a", true},
		{"a wildcard", "a*", true},
		{"wildcards", strings.Repeat("*a", 1000), true},
		{"a long phrase", `"` + strings.Repeat("one ", 2000) + `"`, true},
		{"a long word", strings.Repeat("x", query.MaxBytes), false},
		{"the most words", strings.TrimSpace(strings.Repeat("report ", most)), false},
		{"the most alternatives", strings.Join(words, " OR "), false},
		{"the most different words", strings.Join(words, " "), false},
		{"the longest phrase", `"` + strings.TrimSpace(strings.Repeat("one two ", most/2)) + `"`, false},
		{"a phrase of one letter", `"` + strings.TrimSpace(strings.Repeat("a ", most)) + `"`, false},
		{"the most denied", "-" + strings.Join(words, " -"), false},
		{"the deepest", nested, false},
		{"marks", strings.Repeat("a\u0301", 500), false},
		{"all at all dates", "date:0001..9999 score:..1", false},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := cputime.Used()
		q, err := query.Parse(test.text)
		if fault := new(query.Error); errors.As(err, &fault) != test.refused {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil {
			if _, err = x.Search(context.Background(), q, search.Options{Limit: 100, Facets: true, Histogram: true, Fold: true}); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		took := cputime.Used() - begin
		runtime.ReadMemStats(&after)
		if took > hostileTime {
			t.Errorf("%s takes %v", test.name, took)
		}
		if memory := after.TotalAlloc - before.TotalAlloc; memory > hostileMemory {
			t.Errorf("%s takes %d MiB", test.name, memory>>20)
		}
	}
}

// source is a search.Source of segments in memory. It fails at the read of one, if that is set.
type source struct {
	names []search.SegmentName
	pages map[search.SegmentName][]search.Page
	fails search.SegmentName
}

func (s *source) Segments(_ context.Context, fn func(search.SegmentName) error) error {
	for _, n := range s.names {
		if err := fn(n); err != nil {
			return err
		}
	}
	return nil
}

var errSource = errors.New("the source fails")

func (s *source) Pages(_ context.Context, name search.SegmentName, fn func(search.Page) error) error {
	for _, p := range s.pages[name] {
		if err := fn(p); err != nil {
			return err
		}
	}
	if name == s.fails {
		return errSource
	}
	return nil
}

// testFill: an index that is filled has what the source has, continues after a failure, and adds only what it has not.
func testFill(t *testing.T, empty func(t *testing.T) Place) {
	x := opened(t, empty)
	src := &source{pages: map[search.SegmentName][]search.Page{}}
	for i := range 3 {
		name := search.SegmentName{Crawl: "c", Name: fmt.Sprint(i)}
		p := search.Page{Facts: page(fmt.Sprint(i), "title", "a thread").Facts, Objects: []search.Object{{N: 0, Type: "post", Text: "hello"}, {N: 1}}}
		src.names = append(src.names, name)
		src.pages[name] = []search.Page{p}
	}
	src.fails = src.names[1]
	ctx := context.Background()
	if done, err := search.Fill(ctx, x, src, nil); !errors.Is(err, errSource) || done.Segments != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	src.fails = search.SegmentName{}
	var steps []int
	done, err := search.Fill(ctx, x, src, func(f search.Filled) { steps = append(steps, f.Segments) })
	if err != nil || done != (search.Filled{Segments: 2, Documents: 4, Known: 1}) || !slices.Equal(steps, []int{1, 2}) {
		t.Errorf("%+v, %v, steps %v", done, err, steps)
	}
	if a := find(t, x, "type:post crawl:c", search.Options{Limit: 10}); a.Total != 3 || a.Hits[0].N != 0 {
		t.Errorf("%d posts, want 3", a.Total)
	}
	if a := find(t, x, "type:page", search.Options{}); a.Total != 3 {
		t.Errorf("%d pages, want 3", a.Total)
	}
}

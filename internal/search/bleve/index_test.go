package bleve

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// TestSuite: what an index must do.
func TestSuite(t *testing.T) {
	searchtest.Run(t, func(t *testing.T) searchtest.Place {
		dir := t.TempDir()
		return searchtest.Place{Open: func(t *testing.T) search.Index {
			x, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}}
	})
}

// TestLongKnown: pages that are known to be there are found by words of their titles and by a sentence.
func TestLongKnown(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.CheckKnown(t, x, 150)
}

// TestInterrupted: a segment that an attempt has added in part is as it is after one attempt, also in what ranks depend on.
func TestInterrupted(t *testing.T) {
	ctx := context.Background()
	s := searchtest.Corpus(11, 1, 60)[0]
	open := func() *Index {
		x, err := Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = x.Close() })
		return x
	}
	x, y := open(), open()
	c, err := x.crawl(s.Crawl, true)
	if err != nil {
		t.Fatal(err)
	}
	month := search.MonthOf(s.Documents[0].Date)
	var numbers []int
	for i := range s.Documents {
		if search.MonthOf(s.Documents[i].Date) == month {
			numbers = append(numbers, i)
		}
	}
	p, err := c.month(month)
	if err != nil {
		t.Fatal(err)
	}
	if err := addDocuments(ctx, c.analyser, p, &s, numbers); err != nil {
		t.Fatal(err)
	}
	if has, err := x.HasSegment(ctx, s.SegmentName); has || err != nil {
		t.Errorf("the segment is there before all of it is: %v, %v", has, err)
	}
	var answers []search.Answer
	for _, index := range []*Index{x, y} {
		if err := index.AddSegment(ctx, s); err != nil {
			t.Fatal(err)
		}
		q, err := query.Parse("house OR Haus OR maison")
		if err != nil {
			t.Fatal(err)
		}
		a, err := index.Search(ctx, q, search.Options{Limit: 1000, Facets: true})
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if answers[0].Total == 0 || !reflect.DeepEqual(answers[0], answers[1]) {
		t.Errorf("%d found, without an interruption %d", answers[0].Total, answers[1].Total)
	}
}

// TestOneProcess: a folder that is open is not opened a second time.
func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	x, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	if err := x.AddSegment(context.Background(), searchtest.Corpus(12, 1, 1)[0]); err != nil {
		t.Fatal(err)
	}
	if y, err := Open(dir); err == nil || !strings.Contains(err.Error(), "one process at a time") {
		t.Errorf("opened twice: %v, %v", y, err)
	}
}

// TestNames: names of crawls that are no names of folders have a folder of their own, below that of the index.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"a", ".", "..", "a/b", "../x", "ä", "a%2Fb", ""} {
		folder := folderOf(name)
		if name != "" && (folder == "" || folder == "." || folder == ".." || strings.ContainsAny(folder, "/\\")) || seen[folder] {
			t.Errorf("%q has the folder %q", name, folder)
		}
		seen[folder] = true
	}
}

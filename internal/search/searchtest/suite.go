package searchtest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// Place is where an index keeps its content: Open opens the same index again each time, once it is closed.
type Place struct {
	Open func(t *testing.T) search.Index
}

// Run runs the suite. empty makes a place without content.
func Run(t *testing.T, empty func(t *testing.T) Place) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, empty func(t *testing.T) Place)
	}{
		{"Operators", testOperators}, {"Counts", testCounts}, {"Random", testRandom}, {"Fold", testFold}, {"Again", testAgain}, {"Order", testOrder}, {"Pages", testPages},
		{"Ranking", testRanking}, {"Anchors", testAnchors}, {"Languages", testLanguages}, {"Facts", testFacts}, {"Options", testOptions}, {"Hostile", testHostile},
		{"Fill", testFill}, {"Empty", testEmpty}, {"Concurrent", testConcurrent},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, empty) })
	}
}

// opened is an index at a new place, with segments.
func opened(t *testing.T, empty func(t *testing.T) Place, segments ...search.Segment) search.Index {
	t.Helper()
	x := empty(t).Open(t)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	add(t, x, segments...)
	return x
}

func add(t *testing.T, x search.Index, segments ...search.Segment) {
	t.Helper()
	for _, s := range segments {
		if err := x.AddSegment(context.Background(), s); err != nil {
			t.Fatalf("add %s: %v", s.SegmentName, err)
		}
	}
}

func parse(t *testing.T, text string) query.Query {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

func find(t *testing.T, x search.Index, text string, o search.Options) search.Answer {
	t.Helper()
	a, err := x.Search(context.Background(), parse(t, text), o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// all is the number of hits that tests ask for that want all.
const all = search.MaxHits

// names are hits as texts, in their order.
func names(hits []search.Hit) (list []string) {
	for _, h := range hits {
		list = append(list, nameOf(h.Segment, &h.Document))
	}
	return list
}

func nameOf(segment string, d *search.Document) string {
	return fmt.Sprintf("%s %s %s %d", segment, d.URL, d.Date.UTC().Format(time.RFC3339), d.N)
}

// brute answers a query by looking at each document.
func brute(q query.Query, segments []search.Segment, o search.Options) (a search.Answer, hits []string) {
	tally := search.NewTally()
	analyser := terms.New()
	for _, s := range segments {
		for i := range s.Documents {
			d := &s.Documents[i]
			if query.Prepare(&d.Facts, analyser).Match(q) {
				a.Total++
				tally.Add(&d.Facts)
				hits = append(hits, nameOf(s.Name, d))
			}
		}
	}
	o, _ = o.Check()
	tally.Fill(&a, o)
	return a, hits
}

// compare asks a query and compares what is found with brute force.
func compare(t *testing.T, x search.Index, segments []search.Segment, text string) search.Answer {
	t.Helper()
	o := search.Options{Limit: all, Facets: true, Values: 100, Histogram: true}
	got := find(t, x, text, o)
	want, hits := brute(parse(t, text), segments, o)
	if got.Total != want.Total {
		t.Errorf("%s: %d found, want %d", text, got.Total, want.Total)
	}
	if !reflect.DeepEqual(got.Facets, want.Facets) {
		t.Errorf("%s: facets %v, want %v", text, got.Facets, want.Facets)
	}
	if !slices.Equal(got.Months, want.Months) {
		t.Errorf("%s: months %v, want %v", text, got.Months, want.Months)
	}
	if want.Total <= all {
		found := names(got.Hits)
		slices.Sort(found)
		slices.Sort(hits)
		if !slices.Equal(found, hits) {
			t.Errorf("%s: found\n%s\nwant\n%s", text, strings.Join(found, "\n"), strings.Join(hits, "\n"))
		}
	}
	return got
}

// operators has a query for each operator and field.
var operators = []string{
	"", "house", "houses", "HOUSE", "house garden", "house OR garden", "house -garden", "-house", "-(house OR garden)", "(house OR Haus) (garden OR Garten)", `"house garden"`,
	`"the house"`, `-"the house"`, "well-known", "Häuser", "hauser", "élection", "election", "naive", "3.14", "東京", "東", "都", `"選挙 図書館"`, "図書", "no-such-word", "nosuchword",
	"site:example.org", "site:example.co.uk", "site:127.0.0.1", "-site:example.org", "host:example.org", "host:www.example.org", "host:nowhere.example", `crawl:"crawl 0"`, "crawl:none",
	`-crawl:"crawl 0"`, `crawl:"crawl 0" OR crawl:"crawl 1"`, "lang:en", "lang:de", "lang:xx", "-lang:en", "type:post", "type:page", "type:nothing", "type:application/pdf", "-type:text/html",
	"app:phpbb", "app:PHPBB", "-app:wordpress", "level:article", "level:thread", "author:doe", `author:"jane doe"`, `author:"doe jane"`, "author:nunez", "-author:jane",
	"date:2024", "date:2025", "date:2024-12", "date:2024-12-31", "date:2025-01-01", "date:2024..2025", "date:..2024", "date:2025..", "-date:2024", "date:1999", "date:2000..9999", "date:..9999", "date:0001..9999", "date:9999",
	"score:>0.5", "score:>=0.5", "score:<0.5", "score:<=0.5", "score:0.3", "score:0.2..0.7", "score:..0.1", "score:-1", "-score:>0.5", "score:>0.5 OR score:<0.1",
	"status:200", "status:4xx", "status:300..599", "status:>301", "-status:200", "status:999",
	"house date:2024 score:>0.3 -app:phpbb", "(house date:2024) OR (Haus date:2025)", "-(house date:2024)", `"the house" site:example.org lang:en`, "house -house", "house OR -house",
}

func testOperators(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(1, 6, 40)
	x := opened(t, empty, segments...)
	none := 0
	for _, text := range operators {
		if compare(t, x, segments, text).Total == 0 {
			none++
		}
	}
	if none > len(operators)/3 {
		t.Errorf("%d of %d queries find nothing: the corpus is no test of them", none, len(operators))
	}
}

// testCounts narrows by each value of each facet: the count is what the narrowed query finds.
func testCounts(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(2, 4, 50)
	x := opened(t, empty, segments...)
	for _, text := range []string{"", "house OR Haus OR maison"} {
		a := find(t, x, text, search.Options{Facets: true, Values: 100})
		for facet, counts := range a.Facets {
			if len(counts.Values) < 2 {
				t.Errorf("the facet %s has only %v", facet, counts.Values)
			}
			for _, c := range counts.Values {
				node, err := facet.Narrow(c.Value)
				if err != nil {
					t.Errorf("%s %s: %v", facet, c.Value, err)
					continue
				}
				narrowed, err := x.Search(context.Background(), parse(t, text).With(node), search.Options{})
				if err != nil || narrowed.Total != c.N {
					t.Errorf("%q: %s %s counts %d, narrowed to it %d, %v", text, facet, c.Value, c.N, narrowed.Total, err)
				}
			}
		}
	}
	few := find(t, x, "", search.Options{Facets: true, Values: 1}).Facets[search.Domain]
	if len(few.Values) != 1 || few.Values[0].N+few.Others != find(t, x, "", search.Options{}).Total {
		t.Errorf("one domain and the others are %v", few)
	}
}

func testRandom(t *testing.T, empty func(t *testing.T) Place) {
	segments := Corpus(3, 6, 30)
	x := opened(t, empty, segments...)
	for _, text := range Queries(4, 150) {
		compare(t, x, segments, text)
	}
}

package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// TestSuite: what an index must do.
func TestSuite(t *testing.T) {
	connection := pgtest.Start(t).Database(t)
	places := 0
	searchtest.Run(t, func(t *testing.T) searchtest.Place {
		places++
		schema := fmt.Sprintf("place \"%d\"", places)
		return searchtest.Place{Open: func(t *testing.T) search.Index {
			x, err := Open(context.Background(), connection, schema)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}}
	})
}

// TestLargeTexts: a page with more terms than PostgreSQL stores of a text is found by its first words, and keeps no other page out.
func TestLargeTexts(t *testing.T) {
	var latin, hangul, numbers strings.Builder
	latin.WriteString("raven ")
	hangul.WriteString("raven ")
	numbers.WriteString("raven ")
	for i := range 20_000 {
		letters := []byte("aaaa")
		for k, n := 0, i; k < len(letters); k, n = k+1, n/26 {
			letters[k] += byte(n % 26)
		}
		latin.WriteString(strings.Repeat("x", 60) + string(letters) + " ")
		fmt.Fprintf(&numbers, "%s%06d ", strings.Repeat("x", 58), i)
		hangul.WriteRune(rune(0xac00 + i%11_000))
		for j := range 8 {
			hangul.WriteRune(rune(0x300 + i>>j&1*7 + j*2))
		}
	}
	x, err := Open(context.Background(), pgtest.Start(t).Database(t), "large")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	documents := func(text, language string) (list []search.Document) {
		for _, text := range []string{text, "raven"} {
			list = append(list, search.Document{N: search.WholePage, Facts: query.Facts{
				URL: fmt.Sprintf("http://a.example/%d", len(list)), Date: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), Status: 200, Type: query.Page, Language: language, Text: text,
			}})
		}
		return list
	}
	for i, c := range []struct{ name, language, text string }{
		{"words", "en", latin.String()}, {"numbers", "", numbers.String()}, {"characters", "ko", hangul.String()}, {"title", "en", ""},
	} {
		list := documents(c.text, c.language)
		if c.text == "" {
			list[0].Title, list[0].Text = latin.String(), "raven"
		}
		if err := x.AddSegment(context.Background(), search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: c.name}, Documents: list}); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		q, err := query.Parse("raven")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := x.Search(context.Background(), q, search.Options{Limit: 10}); err != nil || a.Total != 2*(i+1) {
			t.Errorf("%s: %d found, %v", c.name, a.Total, err)
		}
	}
}

// TestScored: of more documents than are ranked, the newest are, and those with the rarest word of an OR; all of them are counted.
func TestScored(t *testing.T) {
	x, err := Open(context.Background(), pgtest.Start(t).Database(t), "scored")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	s := search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: "s"}}
	for i := range 60 {
		text := "raven " + strings.Repeat("weather ", i%7)
		if i == 3 {
			text = "raven raven owl"
		}
		s.Documents = append(s.Documents, search.Document{N: search.WholePage, Facts: query.Facts{
			URL: fmt.Sprintf("http://a.example/%d", i), Date: time.Date(2026, 3, 4, 0, i, 0, 0, time.UTC), Status: 200, Type: query.Page, Language: "en", Text: text,
		}})
	}
	if err := x.AddSegment(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	x.scored = 20
	for _, c := range []struct {
		query, first string
		hits         int
	}{{"raven", "http://a.example/56", 20}, {"raven OR owl", "http://a.example/3", 21}, {"owl", "http://a.example/3", 1}} {
		q, err := query.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.Search(context.Background(), q, search.Options{Limit: 60})
		if err != nil || len(a.Hits) != c.hits || a.Hits[0].URL != c.first || a.Total != 60 && c.query != "owl" {
			t.Errorf("%s: %d hits of %d, %v first, want %s, %v", c.query, len(a.Hits), a.Total, a.Hits[:min(1, len(a.Hits))], c.first, err)
		}
	}
	if _, err := x.pool.Exec(context.Background(), x.sql("ALTER TABLE {schema}.anchors RENAME target TO url")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), x.pool.Config().ConnString(), "scored"); err == nil || !strings.Contains(err.Error(), "--rebuild builds it again") {
		t.Errorf("a schema of another version is opened: %v", err)
	}
}

// TestVectorIsFull: what is left out is the end of a text.
func TestVectorIsFull(t *testing.T) {
	v := vector{}
	for i := range 20_000 {
		v.add(terms.Term{Text: fmt.Sprintf("%064d", i), Position: i})
	}
	if n := len(v.order); n < 13_000 || n > maxVector/(64+lexemeBytes) || v.order[n-1] != fmt.Sprintf("%064d", n-1) {
		t.Errorf("%d terms, the last is %s", n, v.order[n-1])
	}
	if v.add(terms.Term{Text: v.order[0], Position: 20_000}) {
		t.Error("a full vector takes a place")
	}
}

func TestOpenFaults(t *testing.T) {
	for _, test := range []struct{ connection, schema, want string }{
		{"nonsense://", "s", "the connection string is wrong"},
		{"postgres://nobody@127.0.0.1:1/none", "", "the name of the schema is empty"},
		{"postgres://nobody@127.0.0.1:1/none", "s", "open the search index"},
	} {
		if _, err := Open(context.Background(), test.connection, test.schema); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.connection, err, test.want)
		}
	}
}

// TestLongKnown: pages that are known to be there are found by words of their titles and by a sentence.
func TestLongKnown(t *testing.T) {
	x, err := Open(context.Background(), pgtest.Start(t).Database(t), "known")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.CheckKnown(t, x, 0)
}

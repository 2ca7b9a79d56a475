package searchtest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// page is a capture with a title and a text, in English.
func page(path, title, text string) search.Document {
	return search.Document{N: search.WholePage, Facts: query.Facts{
		Crawl: "c", URL: "https://example.org/" + path, Date: time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC), Status: 200, MIME: "text/html", Digest: "sha256:" + path,
		Score: 0.5, Type: query.Page, Language: "en", Title: title, Text: text,
	}}
}

func segment(name string, documents ...search.Document) search.Segment {
	return search.Segment{SegmentName: search.SegmentName{Crawl: "c", Name: name}, Documents: documents}
}

// filler are pages without the words that tests ask for.
func filler(n int) (list []search.Document) {
	for i := range n {
		list = append(list, page(fmt.Sprintf("filler%d", i), "Other things", strings.Repeat("weather and traffic report ", 1+i%9)))
	}
	return list
}

// first fails if a query does not have a path first.
func first(t *testing.T, x search.Index, text, path string) {
	t.Helper()
	a := find(t, x, text, search.Options{Limit: 10})
	if len(a.Hits) == 0 || a.Hits[0].URL != "https://example.org/"+path {
		var list []string
		for _, h := range a.Hits {
			list = append(list, fmt.Sprintf("%s %.3g", h.URL, h.Rank))
		}
		t.Errorf("%s: %v, want %s first", text, list, path)
	}
}

func testRanking(t *testing.T, empty func(t *testing.T) Place) {
	long := strings.Repeat("weather and traffic report ", 60)
	best, worse := page("relevant", "", "owls hunt mice at night"), page("irrelevant", "", "owls hunt mice at night")
	best.Score, worse.Score = 0.9, 0.1
	post := page("thread", "", "cranberry sauce needs sugar")
	post.N, post.Type = 3, "post"
	other := page("other-month", "", "kingfisher kingfisher kingfisher rare bird")
	other.Date = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	documents := append(filler(40),
		page("title", "The lighthouse", "a building at the coast"), page("text", "A building", "the lighthouse at the coast"),
		page("short", "", "a harbour with boats"), page("long", "", long+" a harbour with boats "+long),
		worse, best, page("thread", "", long+" cranberry sauce needs sugar "+long), post,
		page("often", "", "falcon here, falcon there, falcon somewhere in a text"), page("once", "", "one falcon here, nothing there, and somewhere a text"),
		other, page("this-month", "", "kingfisher rare bird with other words"))
	x := opened(t, empty, segment("s", documents...))
	first(t, x, "lighthouse", "title")
	first(t, x, "harbour", "short")
	first(t, x, "owls", "relevant")
	first(t, x, "falcon", "often")
	first(t, x, "kingfisher", "other-month")
	first(t, x, "cranberry", "thread")
	if hits := find(t, x, "cranberry", search.Options{Limit: 2}).Hits; len(hits) != 2 || hits[0].N != 3 || hits[0].Type != "post" {
		t.Errorf("cranberry: the page of the post comes before it, or is not found: %v", names(hits))
	}
}

// testAnchors: what links say of a page makes it rank higher, but is not found by itself.
func testAnchors(t *testing.T, empty func(t *testing.T) Place) {
	s := segment("s", append(filler(30), page("a", "", "a page that names the observatory once"), page("b", "", "a page that names the observatory once"))...)
	x := opened(t, empty, s)
	before := find(t, x, "observatory", search.Options{Limit: 2})
	target := before.Hits[1]
	linking := segment("linking", page("linking", "", "see elsewhere"))
	linking.Anchors = []search.Anchor{{URL: target.URL, Text: "The great Observatories", Language: "en"}, {URL: target.URL, Text: "sextant", Language: "en"}}
	add(t, x, linking)
	after := find(t, x, "observatory", search.Options{Limit: 2})
	if after.Total != 2 || after.Hits[0].URL != target.URL {
		t.Errorf("%v come first, want %s", names(after.Hits), target.URL)
	}
	if a := find(t, x, "sextant", search.Options{}); a.Total != 0 {
		t.Errorf("a word of an anchor text alone finds %d", a.Total)
	}
}

// testLanguages: a word is found in the forms that the language of a page gives it.
func testLanguages(t *testing.T, empty func(t *testing.T) Place) {
	german, french, unknown := page("de", "", "Die Häuser der Stadt"), page("fr", "", "Les élections municipales"), page("xx", "", "Domy stoją")
	german.Language, french.Language, unknown.Language = "de-AT", "fr", "pl"
	chinese, thai := page("zh", "", "中华人民共和国"), page("th", "", "ภาษาไทย")
	chinese.Language, thai.Language = "zh", "th"
	segments := []search.Segment{segment("s", page("en", "", "The houses of the city"), german, french, unknown, chinese, thai)}
	x := opened(t, empty, segments...)
	for _, test := range []struct{ text, path string }{
		{"house", "en"}, {"Haus", "de"}, {"haus", "de"}, {"election", "fr"}, {"municipale", "fr"}, {"domy", "xx"}, {"stoja", "xx"},
		{"人民", "zh"}, {"中", "zh"}, {"共和国", "zh"}, {"ไทย", "th"},
	} {
		if a := find(t, x, test.text, search.Options{Limit: 10}); a.Total != 1 || a.Hits[0].URL != "https://example.org/"+test.path {
			t.Errorf("%s finds %v, want %s", test.text, names(a.Hits), test.path)
		}
	}
	for _, text := range []string{"中国", "民人", "dom"} {
		if a := find(t, x, text, search.Options{}); a.Total != 0 {
			t.Errorf("%s finds %d", text, a.Total)
		}
	}
}

// testFacts: a hit has the facts of its document, but not its text.
func testFacts(t *testing.T, empty func(t *testing.T) Place) {
	d := page("a?b=<c>&d=\"e\"", "Títle <b>&\x01", "some text")
	d.Run, d.N, d.Type, d.Author, d.Application, d.Level, d.Score = 7, 2, "Post", "Ann O’Nym", "phpBB", "Thread", 0.123456789012345
	x := opened(t, empty, segment("s", d))
	hits := find(t, x, "some", search.Options{Limit: 1}).Hits
	want := d
	want.Text = ""
	if len(hits) != 1 || hits[0].Segment != "s" || !hits[0].Date.Equal(want.Date) {
		t.Fatalf("found %+v", hits)
	}
	got := hits[0].Document
	got.Date = want.Date
	if !reflect.DeepEqual(got, want) || hits[0].Rank <= 0 || hits[0].Content == "" {
		t.Errorf("found %+v\nwant  %+v", hits[0], want)
	}
}

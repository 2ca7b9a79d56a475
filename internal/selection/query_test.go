package selection

import (
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// TestParseQuery: a query finds a page by its facts and by the types of its web objects; a fault points at the place.
func TestParseQuery(t *testing.T) {
	f := page(1)
	f.Title, f.Text, f.Types, f.Score, f.Status, f.Crawl = "Ravens", "The raven flew.", []string{"post"}, 0.7, 200, "c"
	for text, want := range map[string]bool{
		"raven": true, "crow": false, "-crow": true, "site:example.org score:>0.5": true, "host:example.org": false, "type:post": true, "type:page": true,
		"type:comment": false, "type:post raven": true, "status:4xx": false, "crawl:c level:thread date:2026": true, "": true,
	} {
		m, err := ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if m.Match(f) != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
	var fault *query.Error
	if _, err := ParseQuery("raven score:>many"); !errors.As(err, &fault) || fault.At < 6 {
		t.Errorf("%v", err)
	}
}

package extract

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestDescribe: an article that was made of the form of a page gets what the head says of the page.
func TestDescribe(t *testing.T) {
	head := `<link rel="canonical" href="/ravens"><meta name="author" content="Hugo"><meta property="article:published_time" content="2021-02-03"><meta name="description" content="They fly.">`
	for _, c := range []struct {
		name, html string
		has        crawl.Properties
		want       map[string]string
	}{
		{"head", head, nil, map[string]string{"author": "Hugo", "published": "2021-02-03T00:00:00Z", "summary": "They fly.", "permalink": "http://a.test/ravens"}},
		{"rules come first", head, crawl.Properties{{Name: "author", Value: "Munin"}}, map[string]string{"author": "Munin", "published": "2021-02-03T00:00:00Z"}},
		{"a date that nobody reads", head, crawl.Properties{{Name: "published", Value: "last week"}}, map[string]string{"published": "2021-02-03T00:00:00Z"}},
		{"JSON-LD before the head", head + ld(`{"@type":"Article","headline":"Ravens","author":{"name":"Munin"}}`), crawl.Properties{{Name: "title", Value: "Ravens"}},
			map[string]string{"author": "Munin", "published": "2021-02-03T00:00:00Z"}},
		{"what is said of the page as such", ld(`{"@type":"WebPage","name":"Ravens","datePublished":"2021-02-04","author":{"name":"Munin"}}`), nil,
			map[string]string{"author": "Munin", "published": "2021-02-04T00:00:00Z", "title": ""}},
	} {
		p := pageAt(t, "http://a.test/", "<html><head>"+c.html+"</head><body><p>x</body></html>")
		objects := []crawl.Object{{Type: "comment"}, {Type: "article", Properties: append(c.has, crawl.Property{Name: "body", Value: "x"})}}
		p.Describe(objects, nil, 0.5)
		for name, want := range c.want {
			if got := objects[1].Properties.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", c.name, name, got, want)
			}
		}
		if len(objects[0].Properties) != 0 {
			t.Errorf("%s: a comment gets %+v", c.name, objects[0].Properties)
		}
	}
	two := []crawl.Object{{Type: "article"}, {Type: "article"}}
	if pageAt(t, "http://a.test/", "<html><head>"+head+"</head><body>").Describe(two, nil, 0.5); len(two[0].Properties)+len(two[1].Properties) > 0 {
		t.Errorf("one of several articles gets what is said of the page: %+v", two)
	}
}

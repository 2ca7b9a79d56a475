package libraries

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/lab/text"
)

var sentences = strings.Repeat("<p>Ravens are large black birds, and they nest early in the year, high up in old trees or on cliffs.</p>", 8)

// TestSystems: each library is asked for what it extracts, and answers.
func TestSystems(t *testing.T) {
	p := &text.Page{URL: "http://birds.test/2019/05/ravens", Source: []byte(`<html><head><title>Ravens nest early</title><meta name="author" content="Jane Smith">
<meta property="article:published_time" content="2019-05-13T08:00:00Z"><meta property="og:title" content="Ravens nest early"></head>
<body><nav><a href="/">menu</a> <a href="/a">about</a></nav><article><h1>Ravens nest early</h1>` + sentences + `</article><footer>imprint</footer></body></html>`)}
	for _, s := range Systems() {
		a, err := s.Extract(p)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if day := a.Published.Format(time.DateOnly); s.Date && day != "2019-05-13" {
			t.Errorf("%s: date %s", s.Name, day)
		}
		if s.Body && (strings.Count(a.Body, "cliffs") != 8 || strings.Contains(a.Body, "menu") || strings.Contains(a.Body, "imprint")) {
			t.Errorf("%s: body %q", s.Name, a.Body)
		}
		if s.Title && a.Title != "Ravens nest early" || s.Author && a.Author != "Jane Smith" {
			t.Errorf("%s: title %q, author %q", s.Name, a.Title, a.Author)
		}
	}
}

// TestHidden: text for browsers without scripts is on the page, as it is for Muninn. go-readability removes it by itself.
func TestHidden(t *testing.T) {
	p := &text.Page{URL: "http://birds.test/", Source: []byte(`<html><body><noscript><div>` + sentences + `</div></noscript></body></html>`)}
	for _, s := range Systems() {
		if a, err := s.Extract(p); s.Name == "trafilatura" && (err != nil || !strings.Contains(a.Body, "cliffs") || strings.Contains(a.Body, "<p>")) {
			t.Errorf("%s: %v, %q", s.Name, err, a.Body)
		}
	}
}

// TestNothing: a page without text gives no text, and a URL that is none an error.
func TestNothing(t *testing.T) {
	for _, s := range Systems() {
		if a, _ := s.Extract(&text.Page{URL: "http://birds.test/", Source: nil}); a.Body != "" || !a.Published.IsZero() {
			t.Errorf("%s: %+v", s.Name, a)
		}
		if _, err := s.Extract(&text.Page{URL: "http://[", Source: []byte("<p>x")}); err == nil {
			t.Errorf("%s: no error", s.Name)
		}
	}
}

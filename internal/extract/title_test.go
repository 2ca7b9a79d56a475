package extract

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func TestTitle(t *testing.T) {
	for _, c := range []struct{ name, html, title string }{
		{"the heading", `<title>Ravens of the tower | The Tower</title><h1>Ravens of the tower</h1>TEXT`, "Ravens of the tower"},
		{"a logo that leads to the front", `<title>Birds: Ravens of the tower</title><h1><a href="/">Birds</a></h1><h3>Ravens</h3>TEXT`, "Ravens of the tower"},
		{"a logo with a separator", `<title>Birds - All: Ravens</title><h1><a href="http://a.test/">Birds - All</a></h1>TEXT`, "Ravens"},
		{"a section above the heading", `<title>Ravens of the tower</title><h1>Science</h1><h1>Ravens of the tower</h1>TEXT`, "Ravens of the tower"},
		{"a heading of something else", `<title>Ravens of the tower</title><h1>Science</h1>TEXT`, "Ravens of the tower"},
		{"og:title", `<title>x</title><meta property="og:title" content="Ravens – The Tower"><meta property="og:site_name" content="The Tower"><h1>Science</h1>TEXT`, "Ravens"},
		{"a word for what it is", `<title>Ravens - The Tower</title><meta property="og:title" content="Ravens"><h1>Thread: Ravens</h1>TEXT`, "Ravens"},
		{"no title but that of the site", `<title>The Tower</title><meta property="og:site_name" content="The Tower"><h1>Ravens</h1>TEXT`, "Ravens"},
		{"the name of the host", `<title>Ravens | Tower.Test</title>TEXT`, "Ravens"},
		{"a heading in the navigation", `<title>Ravens of the tower today</title><nav><h1>Ravens of the tower</h1></nav>TEXT`, "Ravens of the tower today"},
		{"the text of a link to the front", `<title>Ravens of the tower | Birds & Walls</title><p><a href="/">Birds & Walls</a></p>TEXT`, "Ravens of the tower"},
		{"the sign of a link to the heading", `<title>Ravens - docs</title><h1>Ravens<a href="#ravens">¶</a></h1>TEXT`, "Ravens"},
		{"scripts without spaces", `<title>塔のカラス | 塔</title><h1>塔のカラス</h1>TEXT`, "塔のカラス"},
		{"no heading and no title", `TEXT`, ""},
	} {
		if got := articleOf(t, "http://www.tower.test/ravens", c.html).Get("title"); got != c.title {
			t.Errorf("%s: %q, want %q", c.name, got, c.title)
		}
	}
}

// TestTitleOfRule: what a rule of an application says stays, unless another heading is what the head calls the page.
func TestTitleOfRule(t *testing.T) {
	for _, c := range []struct{ html, has, title string }{
		{`<title>RavenNotes < Birds</title><h1>Notes on ravens</h1>`, "Notes on ravens", "Notes on ravens"},
		{`<title>Ravens of the tower</title><h1>Ravens of the tower</h1>`, "Wed, 10:27 Hugo", "Ravens of the tower"},
		{`<title>Ravens | Tower</title><h1>Birds</h1>`, "Ravens | Tower", "Ravens"},
		{`<title>Ravens</title>`, "", "Ravens"},
	} {
		p := pageAt(t, "http://www.tower.test/ravens", c.html)
		o := crawl.Object{Type: "article", Rule: "applications/x.xml:3"}
		if c.has != "" {
			set(&o, "title", c.has)
		}
		list := []crawl.Object{o}
		p.Describe(list, nil, 1)
		if got := list[0].Properties.Get("title"); got != c.title {
			t.Errorf("%s, %q: %q, want %q", c.html, c.has, got, c.title)
		}
	}
}

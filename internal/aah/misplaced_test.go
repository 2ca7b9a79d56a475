package aah

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// TestMisplaced: date and author of a page's article are not those of the teaser, the column or the comment that stands before or behind it, though
// a rule of the application selects them.
func TestMisplaced(t *testing.T) {
	const rules = `<application xmlns="` + kb.Namespace + `" name="Rook" category="blog"><detect xpath="//div[@id='rooks']"/>
<level name="article" terminal="true"><match url="."/><object type="article" each="/html/body"><property name="title" xpath="//h1"/>
<property name="author" xpath=".//b"/><property name="published" xpath=".//time/@datetime" as="dateTime"/><property name="body" xpath=".//div[@id='rooks']"/></object></level></application>`
	h := New(base(t, rules), DefaultLimits())
	const teaser = `<time datetime="2019-01-02">2 January</time><b>Ann Corvi</b> writes of crows.`
	own := `<div id="rooks">` + strings.Repeat(prose, 2) + `</div>`
	for _, c := range []struct{ name, html, published, author string }{
		{"a teaser before it", `<article>` + teaser + `</article><article><h1>Rooks</h1><time datetime="2021-03-05">5 March</time><b>Hugo Munin</b>` + own + `</article>`, "2021-03-05T00:00:00Z", "Hugo Munin"},
		{"a column before it", `<div class="sidebar">` + teaser + `</div><h1>Rooks</h1><time datetime="2021-03-05">5 March</time><b>Hugo Munin</b>` + own, "2021-03-05T00:00:00Z", "Hugo Munin"},
		{"a teaser alone", `<h1>Rooks</h1>` + own + `<div class="related-posts">` + teaser + `</div>`, "", ""},
		{"a comment alone", `<h1>Rooks</h1>` + own + `<div id="comments">` + teaser + `</div>`, "", ""},
		{"a class that holds the text", `<div class="related-sidebar_layout"><h1>Rooks</h1><time datetime="2021-03-05">5 March</time><b>Hugo Munin</b>` + own + `</div>`, "2021-03-05T00:00:00Z", "Hugo Munin"},
	} {
		d := page.Parse(page.Input{URL: "http://a.test/rooks", MIME: "text/html; charset=utf-8", Body: []byte(c.html)}, page.DefaultLimits())
		found := h.Apply(d, Input{})
		if len(found.Objects) != 1 {
			t.Fatalf("%s: %d objects", c.name, len(found.Objects))
		}
		if p := found.Objects[0].Properties; p.Get("published") != c.published || p.Get("author") != c.author {
			t.Errorf("%s: %q by %q", c.name, p.Get("published"), p.Get("author"))
		}
	}
}

package aah

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/dates"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// sample is a page as a template of the web makes it, with what it says of itself. A want of "-" is not asked.
type sample struct {
	name, path, lang, head, main string
	published, author, title     string
}

const prose = `<p>The raven sits on the wall of the old tower and looks down at the people who pass below it on their way to the market. In winter it stays there for the whole day.</p>
<p>For as long as anybody remembers there have been two of them, and it is said that the tower falls when they leave. Nobody has tried whether that is so, and the town pays for their food.</p>
<p>A count of the birds along the river, which the school repeats each spring, found more of them than ever before: the new bridge gives them places to nest, and the meadows give them food.</p>
<p>The keeper says that the birds know the sound of his steps, and that they come down to the lower wall in the evening when he brings the meat. He has written down each of their visits since the year of the flood.</p>`

// html is the whole page: the sample between the menu, the teasers and the footer that a site has around it.
func (s sample) html() string {
	return `<!DOCTYPE html><html lang="` + s.lang + `"><head><meta charset="utf-8">` + s.head + `</head><body><header class="site-header"><a href="/" class="logo">The Tower</a>
<nav><ul><li><a href="/a">Birds</a></li><li><a href="/b">Walls</a></li><li><a href="/c">Archive</a></li></ul></nav></header><div id="page">` + strings.ReplaceAll(s.main, "TEXT", prose) + `</div>
<aside class="sidebar"><h3>More</h3><ul><li><a href="/d">Crows of the moor</a> <span class="date">3 January 2019</span></li><li><a href="/e">Jays of the wood</a> <span class="date">9 February 2020</span></li></ul></aside>
<footer class="site-footer"><p>Copyright © 2009–2024 The Tower. All rights reserved.</p></footer></body></html>`
}

// TestBylines: dates, names and titles of pages as the templates of the web make them.
func TestBylines(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(choosing, held, choosingMore, heldMore) {
		d := page.Parse(page.Input{URL: "http://www.tower.test" + s.path, MIME: "text/html; charset=utf-8", Body: []byte(s.html())}, page.DefaultLimits())
		found := New(base, DefaultLimits()).Apply(d, Input{})
		var got [3]string
		if len(found.Objects) > 0 {
			p := found.Objects[0].Properties
			got = [3]string{p.Get("published"), strings.Join(p.All("author"), ", "), p.Get("title")}
		}
		if at, precision, ok := dates.Read(got[0], time.Time{}); ok && precision >= dates.Day {
			got[0] = at.Format(time.DateOnly)
		}
		for i, want := range [3]string{s.published, s.author, s.title} {
			if got[i] != want && want != "-" {
				t.Errorf("%s: %s is %q, want %q", s.name, [3]string{"published", "author", "title"}[i], got[i], want)
			}
		}
	}
}

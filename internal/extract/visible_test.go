package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// articleOf describes the article of a page that has no more than a title and its text.
func articleOf(t *testing.T, url, html string) crawl.Properties {
	t.Helper()
	text := strings.Repeat("The raven sits on the wall of the old tower and looks down at the people who pass below it. ", 3)
	p := pageAt(t, url, strings.ReplaceAll(html, "TEXT", "<p>"+text+"</p><p>"+text+"</p>"))
	set := Set{}
	if !p.Supply(true, &set) {
		t.Fatal("no article")
	}
	p.Describe(set.Objects, set.Located, 0.5)
	return set.Objects[0].Properties
}

func TestVisibleDates(t *testing.T) {
	for _, c := range []struct{ name, url, html, published, modified string }{
		{"below the heading", "", `<h1>Ravens</h1><p>21 November 2026</p>TEXT`, "2026-11-21", ""},
		{"above it", "", `<div>Saturday, 21 November 2026</div><h1>Ravens</h1>TEXT`, "2026-11-21", ""},
		{"with the author", "", `<h1>Ravens</h1><p>by Hugo, November 21st, 2026</p>TEXT`, "2026-11-21", ""},
		{"below the text", "", `<h1>Ravens</h1>TEXT<p>Posted on 21.11.2026 in Birds</p>`, "2026-11-21", ""},
		{"an element for programs", "", `<h1>Ravens</h1><p><time datetime="2026-11-21T10:00">two days ago</time></p>TEXT`, "2026-11-21", ""},
		{"a change alone", "", `<h1>Ravens</h1><p>Last updated: 21 November 2026</p>TEXT`, "", "2026-11-21"},
		{"both in one text", "", `<h1>Ravens</h1><p>Publié le 5/6/2014, mis à jour le 7/6/2014</p>TEXT`, "2014-06-05", "2014-06-07"},
		{"the word behind the date", "", `<h1>Ravens</h1><p>2014-06-07 更新</p>TEXT`, "", "2014-06-07"},
		{"Russian", "", `<h1>Ravens</h1><p>Опубликовано 5 февраля 2014</p><p>Обновлено: 6 февраля 2014</p>TEXT`, "2014-02-05", "2014-02-06"},
		{"a Japanese label in a cell of its own", "", `<h1>烏</h1><dl><dt>更新された日時</dt><dd>2014年6月7日</dd></dl>TEXT`, "", "2014-06-07"},
		{"a span of time", "", `<h1>Ravens</h1><p>from 5/6/2014, 20:00 to 7/6/2014 and 9/6/2019</p>TEXT`, "", ""},
		{"a right", "", `<h1>Ravens</h1><p>Copyright 21 November 2026</p>TEXT`, "", ""},
		{"a month", "", `<h1>Ravens</h1><p>November 2026</p>TEXT`, "", ""},
		{"a sentence", "", `<h1>Ravens</h1><p>On 21 November 2026 the raven came to the tower for the first time in so many years of waiting</p>TEXT`, "", ""},
		{"a list", "", `<h1>Ravens</h1><p>21 November 2026</p><p>20 November 2026</p><p>19 November 2026</p>TEXT`, "", ""},
		{"after a change", "", `<head><meta property="article:modified_time" content="2020-01-01"></head><h1>Ravens</h1><p>21 November 2026</p>TEXT`, "", "2020-01-01"},
		{"comments", "", `<h1>Ravens</h1>TEXT<div class="comments"><p>21 November 2026</p></div>`, "", ""},
		{"far below", "", `<h1>Ravens</h1>TEXTTEXTTEXTTEXT<p>Datum: 21 November 2026</p>TEXTTEXTTEXT`, "2026-11-21", ""},
		{"several far below", "", `<h1>Ravens</h1>TEXTTEXTTEXTTEXT<p>Datum: 21 November 2026</p>TEXT<p>Published 20 November 2026</p>TEXTTEXTTEXT`, "", ""},
		{"a day until which something is to be done", "", `<h1>Ravens</h1><p>21 November 2025</p><p>Apply by 30 June 2026</p>TEXT`, "2025-11-21", ""},
		{"the same by a month", "", `<h1>Ravens</h1><p>21 November 2025</p><p>Register by May 5, 2026</p>TEXT`, "2025-11-21", ""},
		{"a name that is a word for until", "", `<h1>Ravens</h1><p>Till Corvi, 21 November 2026</p>TEXT`, "2026-11-21", ""},
		{"a title with such a word", "", `<h1>Ravens</h1><p>De vogels zijn tot rust: 21 november 2026</p>TEXT`, "2026-11-21", ""},
		{"until a date", "", `<h1>Ravens</h1><p>bis zum 21.11.2026</p><p>till Saturday, 21 November 2026</p>TEXT`, "", ""},
		{"until a month", "", `<h1>Ravens</h1><p>Open till November 21, 2026</p>TEXT`, "", ""},
		{"until and including", "", `<h1>Ravens</h1><p>till och med 5 maj 2014</p><p>till och med fredag 5 maj 2014</p><p>tot en met vrijdag 5 mei 2014</p><p>bis und mit 5. Mai 2014</p>TEXT`, "", ""},
		{"until at the latest", "", `<h1>Ravens</h1><p>bis spätestens 5. Mai 2014</p><p>bis einschl. 5. Mai 2014</p><p>tot uiterlijk 5 mei 2014</p><p>hasta el próximo 5 de mayo de 2014</p>TEXT`, "", ""},
		{"until a date in brackets", "", `<h1>Ravens</h1><p>bis (31. Dezember 2014)</p>TEXT`, "", ""},
		{"until in a greeting", "", `<h1>Raven</h1><p>Tot ziens! 5 mei 2014</p>TEXT`, "2014-05-05", ""},
		{"an event's address", "http://a.test/events/2026/12/24/ravens", `<h1>Ravens</h1>TEXT`, "", ""},
		{"mis en ligne", "", `<h1>Ravens</h1><p>Mis en ligne le 5 juin 2014 par la maison des oiseaux du vallon de la roche, mise à jour le 7 juin 2014</p>TEXT`, "2014-06-05", "2014-06-07"},
		{"a label in a cell of its own", "", `<h1>Ravens</h1><dl><dt>Published</dt><dd>5 March 2015</dd><dt>Last updated</dt><dd>7 March 2016</dd></dl>TEXT`, "2015-03-05", "2016-03-07"},
		{"a change in an element for programs", "", `<h1>Ravens</h1><p>Last updated on <time datetime="2016-03-07">7 March</time></p>TEXT`, "", "2016-03-07"},
		{"three boxes", "", `<div><div>05</div><div>Mar</div><div>2015</div></div><h1>Ravens</h1>TEXT`, "2015-03-05", ""},
		{"a title", "", `<h1>Ravens</h1><p><span class="published" title="2015-03-05T10:00:00Z">long ago</span></p>TEXT`, "2015-03-05", ""},
		{"seconds", "", `<h1>Ravens</h1><p><span data-timestamp="1425513600">long ago</span></p>TEXT`, "2015-03-05", ""},
		{"Persian digits", "", `<h1>Ravens</h1><p>۱۴ اسفند ۱۳۹۳</p>TEXT`, "2015-03-05", ""},
		{"two digits", "", `<html lang="de"><h1>Ravens</h1><p>Kultur, 5.3.15</p>TEXT`, "2015-03-05", ""},
		{"a line of place and date", "", `<h1>Ravens</h1><p>LONDON, March 5, 2015 (AP) – The ravens have come back to the tower after more than a year that they had spent away from it at the coast, their keeper said.</p>TEXT`, "2015-03-05", ""},
		{"a sentence with a date", "", `<h1>Ravens</h1><p>Since March 5, 2015 – the day of the flood – the ravens have come back to the tower after more than a year that they had spent away from it at the coast.</p>TEXT`, "", ""},
		{"an element that is called after a date", "", `<h1>Ravens</h1>TEXTTEXT<p>a</p><p>b</p><p>c</p><p>d</p><p>e</p><p class="pub_date">5 March 2015</p>`, "2015-03-05", ""},
		{"a column beside the text", "", `<h1>Ravens</h1>TEXT<aside><p>5 March 2015</p></aside>`, "", ""},
		{"the teaser of another", "", `<article><h1>Ravens</h1>TEXT</article><article><h3>Crows</h3><time datetime="2015-03-05">5 March 2015</time></article>`, "", ""},
		{"the same in boxes", "", `<h1>Ravens</h1>TEXT<div><h3><a href="/c">Crows of the moor</a></h3><div class="date">5 March 2015</div></div>`, "", ""},
		{"a row of another thread", "", `<h1>Ravens</h1>TEXT<table><tr><td><a href="/c">Crows of the moor</a></td><td>12</td><td>5 March 2015</td></tr></table>`, "", ""},
		{"a menu in the row of the text", "", `<table><tr><td><a href="/n">News of the old society</a> <p>12</p></td><td><h1>Ravens</h1>TEXT<p>Birds</p><p>Hugo Munin, 5 March 2015</p></td></tr></table>`, "2015-03-05", ""},
		{"a menu in a row", "", `<h1>Ravens</h1>TEXT<table><tr><td><nav><a href="/n">News of the old society</a></nav></td><td>12</td><td>5 March 2015</td></tr></table>`, "2015-03-05", ""},
		{"a row without a link", "", `<h1>Ravens</h1>TEXT<table><tr><td>Corvi of the moor</td><td>12</td><td>5 March 2015</td></tr></table>`, "2015-03-05", ""},
		{"the day on which somebody registered", "", `<h1>Corbeaux</h1><p>Date d'inscription : 12/01/2009</p>TEXT`, "", ""},
		{"below a link with a label", "", `<h1>Ravens</h1>TEXT<div><a href="/c">Crows of the moor</a></div><div>Posted on 5 March 2015</div>`, "2015-03-05", ""},
		{"a script", "", `<h1>Ravens</h1>TEXT<script>window.DATA={"first_published_at":"2015-03-05T10:00:00Z","updatedAt":"2016-03-05"}</script>`, "2015-03-05", ""},
		{"scripts with several days", "", `<h1>Ravens</h1>TEXT<script>x=[{"publishedAt":"2015-03-05"},{"publishedAt":"2015-03-07"}]</script>`, "", ""},
		{"scripts that name the address", "http://a.test/ravens-of-the-tower", `<h1>Ravens</h1>TEXT<script>x=[{"publishedAt":"2015-03-05"},` + strings.Repeat(" ", 3000) + `{"publishedAt":"2015-03-07","slug":"ravens-of-the-tower"}]</script>`, "2015-03-07", ""},
		{"data of a program", "", `<h1>Ravens</h1>TEXT<script type="application/json; charset=utf-8">{"publishedAt":"2015-03-05"}</script>`, "2015-03-05", ""},
		{"what JSON-LD says of something else", "", `<h1>Ravens</h1>TEXT<script type="application/ld+json">{"@type":"Offer","datePublished":"2015-03-05"}</script>`, "", ""},
		{"a template", "", `<h1>Ravens</h1>TEXT<script type="text/x-template">{"publishedAt":"2015-03-05"}</script>`, "", ""},
		{"the front", "http://a.test/", `<h1>Ravens</h1><p>21 November 2026</p>TEXT`, "", ""},
		{"the address", "http://a.test/2026/11/21/ravens", `<h1>Ravens</h1><p>20 November 2026</p>TEXT`, "2026-11-21", ""},
		{"the language of the page", "", `<html lang="en-GB"><h1>Ravens</h1><p>5/6/2014</p>TEXT`, "2014-06-05", ""},
		{"a slash before the date", "", `<html lang="de"><h1>Raben</h1><p>Vögel/Türme, 5/6/2014</p>TEXT`, "2014-06-05", ""},
		{"American", "", `<html lang="en-US"><h1>Ravens</h1><p>5/6/2014</p>TEXT`, "2014-05-06", ""},
	} {
		if c.url == "" {
			c.url = "http://a.test/ravens"
		}
		got := articleOf(t, c.url, c.html)
		for name, want := range map[string]string{"published": c.published, "modified": c.modified} {
			if value, _, _ := strings.Cut(got.Get(name), "T"); value != want {
				t.Errorf("%s: %s is %q, want %q", c.name, name, value, want)
			}
		}
	}
}

func TestDateOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/2014/05/16/ravens": "2014-05-16", "http://a.test/b/2014/5/6/ravens.html": "2014-05-06", "http://a.test/2014-05-16-ravens": "2014-05-16", "http://a.test/20140516/ravens": "2014-05-16",
		"http://a.test/2014/05/16/": "", "http://a.test/2014/05/ravens-and-crows": "", "http://a.test/2014/13/16/ravens": "", "http://a.test/20140516123000/ravens": "", "http://a.test/?p=/2014/05/16/ravens": "",
		"http://a.test/2014/05/99/ravens": "", "http://2014/05/16": "", "http://a.test": "", "http://a.test/2014-05/16-ravens-fly": "",
	} {
		if got, _, _ := strings.Cut(dateOfURL(url), "T"); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// TestTeaserRows: the blocks of a long row are not all looked at for the title of a teaser for each of its blocks.
func TestTeaserRows(t *testing.T) {
	row := func(before int) *Page {
		p := pageAt(t, "http://a.test/ravens", `<h1>Ravens</h1><p>The raven sits.</p><table><tr>`+strings.Repeat("<td>1</td>", before)+`<td><a href="/c">Crows of the moor</a></td><td>12</td><td>5 March 2015</td></tr></table>`)
		p.Doc.Title = "Ravens"
		return p
	}
	for before, want := range map[int]bool{0: true, maxRowBlocks - 1: true, maxRowBlocks: false, 5000: false} {
		p := row(before)
		if got := p.inTeaserRow(&window{heading: 0, body: 1, end: 2, mainEnd: 2}, len(p.Doc.Blocks)-1); got != want {
			t.Errorf("behind %d blocks: %v, want %v", before, got, want)
		}
	}
}

// TestLabels: no word has a capital or stands for two things, and what is cut out of a text is all of it.
func TestLabels(t *testing.T) {
	for word := range labels {
		if word != strings.ToLower(word) {
			t.Errorf("%q is never found", word)
		}
	}
	for text, want := range map[string]string{
		"by Hugo, published 1 May, updated 2 May": "3: Hugo, |1: 1 May, |2: 2 May", "1 May": "0:1 May", "Standby on 1 May": "0:Standby on 1 May", "": "",
		"作者：雨果 发布于 1": "3:：雨果 |1:于 1", "Mise à jour : 1 mai": "0:Mise |2: : 1 mai",
		"bis einschließlich 1. Mai": "4: einschließlich 1. Mai", "By Till Corvi": "3: Till Corvi", "Till": "0:Till", "hasta el lunes 5": "4: el lunes 5", "tot en met iedereen": "0:tot en met iedereen",
		"Till (Corvi) 5": "0:Till (Corvi) 5", "bis (5.": "4: (5.", "till och med fredag, 5 maj": "4: och med fredag, 5 maj", "tot ziens op 5 mei": "0:tot ziens op 5 mei",
	} {
		var got []string
		for _, s := range spansOf(text, nil) {
			got = append(got, string('0'+rune(s.kind))+":"+s.text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, strings.Join(got, "|"), want)
		}
	}
	for text, want := range map[string]string{"5/6/2014": "5.6.2014", "le 5/6/14 à 10": "le 5.6.14 à 10", "2014/6/5": "2014/6/5", "a/b": "a/b", "5/": "5/", "5/6": "5/6", "1/23456/7": "1/23456/7", "/": "/",
		"Birds/Walls, 5/6/2014": "Birds/Walls, 5.6.2014", "5/6/2014 / 7/8/2015": "5.6.2014 / 7.8.2015", "2/3 of 5/6/2014": "2/3 of 5.6.2014", "a/5/6/2014/b": "a/5.6.2014/b", "7/5/6/2014": "7/5/6/2014", "1/2/3": "1/2/3",
		"5/6/2014/7": "5/6/2014/7", "2014/5/6/20": "2014/5/6/20"} {
		if got := dotted(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if later(time.Time{}, "") {
		t.Error("a date is later than none")
	}
}

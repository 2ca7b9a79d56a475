package aah

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

func shipped(t testing.TB) *Helper {
	t.Helper()
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return New(base, DefaultLimits())
}

func read(h *Helper, url, body string) *page.Document {
	d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
	h.Apply(d, []byte(body))
	return d
}

// links writes the kept links as "path level prior".
func links(d *page.Document) (list []string) {
	for _, l := range d.Links {
		list = append(list, fmt.Sprintf("%s %s %.1f", strings.TrimPrefix(l.URL, "http://a.test"), l.Level, l.Prior))
	}
	return list
}

const (
	wordpress = `<html><head><meta name="generator" content="WordPress 6.4"><link rel="canonical" href="/ravens/"></head>`
	mediawiki = `<html><head><meta name="generator" content="MediaWiki 1.41"></head>`
)

func TestRecognise(t *testing.T) {
	tests := []struct{ name, url, body, app, level string }{
		{"WordPress by generator", "/ravens/", wordpress + `<body class="single single-post">`, "WordPress", "article"},
		{"WordPress by its scripts", "/x/", `<script src="/wp-includes/js/jquery.js"></script><body class="blog home">`, "WordPress", "front"},
		{"WordPress by its API", "/x/", `<link rel="https://api.w.org/" href="/wp-json/"><body class="archive category">`, "WordPress", "archive"},
		{"WordPress page", "/about/", wordpress + `<body class="page page-id-7">`, "WordPress", "article"},
		{"WordPress page as front", "/", wordpress + `<body class="home page page-id-7">`, "WordPress", "front"},
		{"WordPress search", "/?s=raven", wordpress + `<body class="search search-results">`, "WordPress", "search"},
		{"WordPress without classes", "/2020/05/ravens/", wordpress + `<link rel=shortlink href="http://a.test/?p=12"><body>`, "WordPress", "article"},
		{"WordPress login", "/wp-login.php", `<body class="login">`, "WordPress", "login"},
		{"a picture from a WordPress elsewhere", "/x", `<body><img src="http://b.test/wp-content/uploads/r.png">`, "", ""},
		{"MediaWiki article", "/wiki/Raven", mediawiki + `<body class="mediawiki ns-0"><div id="mw-content-text">text</div>`, "MediaWiki", "article"},
		{"MediaWiki edit", "/w/index.php?title=Raven&action=edit", mediawiki + `<body class="mediawiki ns-0"><div id="bodyContent">`, "MediaWiki", "edit"},
		{"MediaWiki history", "/w/index.php?title=Raven&action=history", mediawiki + `<body class="mediawiki ns-0">`, "MediaWiki", "history"},
		{"MediaWiki old version", "/w/index.php?title=Raven&oldid=7", mediawiki + `<body class="mediawiki ns-0">`, "MediaWiki", "history"},
		{"MediaWiki special", "/wiki/Special:RecentChanges", `<body class="mediawiki ns--1 ns-special">`, "MediaWiki", "special"},
		{"MediaWiki category", "/wiki/Kategorie:Vogel", `<body class="mediawiki ns-14"><div id="mw-content-text">`, "MediaWiki", "category"},
		{"phpBB 3 thread", "/viewtopic.php?t=1", `<body id="phpbb" class="section-viewtopic">`, "phpBB", "thread"},
		{"phpBB 3 forum", "/viewforum.php?f=1", `<body id="phpbb">`, "phpBB", "list of threads"},
		{"phpBB 3 index", "/index.php", `<body id="phpbb"><a class="forumtitle" href="viewforum.php?f=1">Birds</a>`, "phpBB", "list of forums"},
		{"phpBB 3 member", "/memberlist.php?mode=viewprofile&u=2", `<body id="phpbb">`, "phpBB", "profile"},
		{"phpBB 3 login", "/ucp.php?mode=login", `<body id="phpbb"><input type=password>`, "phpBB", "login"},
		{"phpBB 3, subsilver2", "/topic1.html", `<link href="/styles/subsilver2/theme/s.css"><table class="tablebg"><tr><td><span class="postauthor">A</span><div class="postbody">p</div></table>`, "phpBB", "thread"},
		{"phpBB 2 index", "/phpBB2/", `<body><a class="forumlink" href="viewforum.php?f=1">Birds</a>Powered by <a href="http://www.phpbb.com/">phpBB</a>`, "phpBB", "list of forums"},
		{"phpBB 2 with rewritten URLs", "/ravens-f1.html", `<body><span class="topictitle"><a class="topictitle" href="x-t1.html">Ravens</a></span>Powered by <a href="http://www.phpbb.com/">phpBB</a>`, "phpBB", "list of threads"},
		{"generic article", "/news/1", `<body><article><h1>Ravens</h1><p>They fly.</p></article>`, "generic", "article"},
		{"generic login", "/enter", `<body><input type=password>`, "generic", "login"},
		{"generic front", "/", `<body>Hello`, "generic", "front"},
		{"nothing known", "/x", `<body>Hello`, "", ""},
		{"nothing at all", "/x", ``, "", ""},
	}
	h := shipped(t)
	for _, test := range tests {
		d := read(h, "http://a.test"+test.url, test.body)
		if d.Application != test.app || d.Level != test.level || (d.Rule == "") != (test.app == "") {
			t.Errorf("%s: %q %q by %q, want %q %q", test.name, d.Application, d.Level, d.Rule, test.app, test.level)
		}
	}
}

func TestObjects(t *testing.T) {
	tests := []struct {
		name, url, body string
		want            []map[string]string // properties, with the type as "type"
	}{
		{"WordPress article and comment", "/ravens/", wordpress + `<body class="single"><article id="post-7" class="post-7 post type-post hentry"><h1 class="entry-title">Ravens</h1>
<span class="author vcard"><a rel="author" href="/a">Hugo</a></span><time datetime="2026-11-21T08:00:00+00:00">today</time>
<div class="entry-content"><p>One.</p><p>Two.</p><script>no()</script></div></article>
<ol><li class="comment even"><b class="fn">Munin</b><div class="comment-meta"><a href="#comment-1"><time datetime="2026-11-22T08:00:00+01:00">t</time></a></div><div class="comment-content"><p>Fine.</p></div></li></ol>`,
			[]map[string]string{
				{"type": "article", "title": "Ravens", "author": "Hugo", "published": "2026-11-21T08:00:00Z", "body": "One. Two.", "permalink": "http://a.test/ravens/"},
				{"type": "comment", "author": "Munin", "published": "2026-11-22T08:00:00+01:00", "body": "Fine.", "permalink": "http://a.test/ravens/"},
			}},
		{"WordPress without classes", "/x/", wordpress + `<link rel=shortlink href="/?p=9"><body><h1>Crows</h1><div id="content"><p>Text.</p></div>`,
			[]map[string]string{{"type": "article", "title": "Crows", "body": "Text.", "permalink": "http://a.test/ravens/"}}},
		{"MediaWiki", "/wiki/Raven", mediawiki + `<body class="mediawiki ns-0"><h1 id="firstHeading">Raven</h1><div id="bodyContent"><div id="mw-content-text"><div class="mw-parser-output"><p>A <b>bird</b>.</p><style>x</style></div></div></div>`,
			[]map[string]string{{"type": "article", "title": "Raven", "body": "A bird."}}},
		{"phpBB 3", "/viewtopic.php?t=1", `<body id="phpbb"><div id="p1" class="post has-profile bg2"><div class="postbody"><h3><a href="#p1">Ravens</a></h3><p class="author">by <strong><a class="username" href="m">Hugo</a></strong> » <time datetime="2026-11-21T08:00:00+00:00">x</time></p><div class="content">One<br>two</div></div></div>
<div id="p2" class="post bg1"><div class="postbody"><h3><a href="#p2">Re: Ravens</a></h3><p class="author">by <a class="username-coloured" href="m">Munin</a> » Sat Nov 21, 2026 9:15 am</p><div class="content">three</div></div></div>`,
			[]map[string]string{
				{"type": "post", "title": "Ravens", "author": "Hugo", "published": "2026-11-21T08:00:00Z", "body": "One two", "permalink": "http://a.test/viewtopic.php?t=1"},
				{"type": "post", "title": "Re: Ravens", "author": "Munin", "published": "2026-11-21T09:15:00Z", "body": "three", "permalink": "http://a.test/viewtopic.php?t=1"},
			}},
		{"phpBB 2", "/viewtopic.php?t=1", `<body><table class="forumline"><tr><td class="row1"><span class="name"><a name="5"></a><b>Hugo</b></span></td><td><table><tr><td><a href="viewtopic.php?p=5#5"></a><span class="postdetails">Posted: Thu Dec 17, 2009 1:44 pm Post subject: Ravens</span></td></tr><tr><td><span class="postbody">They fly.</span></td></tr></table></td></tr></table>Powered by <a href="http://www.phpbb.com/">phpBB</a>`,
			[]map[string]string{{"type": "post", "author": "Hugo", "published": "2009-12-17T13:44:00Z", "body": "They fly.", "permalink": "http://a.test/viewtopic.php?p=5"}}},
		{"generic, under a base", "/x/y", `<base href="/other/"><link rel=canonical href="z"><article><h1>Ravens</h1><p>They fly.</p></article>`,
			[]map[string]string{{"type": "article", "title": "Ravens", "body": "Ravens They fly.", "permalink": "http://a.test/other/z"}}},
	}
	h := shipped(t)
	for _, test := range tests {
		var got []map[string]string
		for _, o := range read(h, "http://a.test"+test.url, test.body).Objects {
			o.Properties["type"] = o.Type
			got = append(got, o.Properties)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%v\nwant\n%v", test.name, got, test.want)
		}
	}
}

func TestJudgedLinks(t *testing.T) {
	tests := []struct {
		name, url, body string
		want            []string
	}{
		{"WordPress", "/", wordpress + `<body class="home"><h2 class="entry-title"><a href="/one/">1</a></h2><a href="/one/?replytocom=3">r</a><a href="/wp-login.php">l</a><div class="nav-links"><a href="/page/2/">2</a></div><a href="/about/">a</a>`,
			[]string{"/ravens/  0.0", "/one/ article 0.9", "/page/2/ archive 0.6", "/about/  0.0"}},
		{"MediaWiki", "/wiki/Raven", mediawiki + `<body class="ns-0"><div id="mw-content-text"><a href="/wiki/Crow">c</a><a class="new" href="/wiki/Nothing">n</a></div><a href="/w/index.php?title=Raven&action=edit">e</a><a href="/wiki/Special:Random">s</a><div id="catlinks"><a href="/wiki/Category:Birds">b</a></div>`,
			[]string{"/wiki/Crow article 0.8", "/wiki/Category:Birds category 0.5"}},
		{"phpBB, with session IDs", "/viewforum.php?f=1", `<body id="phpbb"><a class="topictitle" href="viewtopic.php?f=1&t=2&sid=0123456789abcdef0123456789abcdef">t</a><a href="posting.php?f=1">p</a><a href="memberlist.php">m</a><div class="pagination"><a href="viewforum.php?f=1&start=25">2</a></div>`,
			[]string{"/viewtopic.php?f=1&t=2 thread 0.9", "/viewforum.php?f=1&start=25 list of threads 0.7"}},
		{"under a base", "/deep/page", mediawiki + `<base href="/w/"><body class="ns-0"><div id="mw-content-text"><a href="Crow">c</a><a class="new" href="Nothing">n</a></div>`,
			[]string{"/w/Crow article 0.8"}},
	}
	h := shipped(t)
	for _, test := range tests {
		if got := links(read(h, "http://a.test"+test.url, test.body)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%v\nwant\n%v", test.name, got, test.want)
		}
	}
}

func TestLimits(t *testing.T) {
	base, err := kb.Load(fstest.MapFS{"a.xml": {Data: []byte(`<application xmlns="` + kb.Namespace + `" name="a" category="blog"><detect text="raven"/>
<level name="all" terminal="true"><match url="."/><object type="item" each="//li"><property name="t" xpath="text()"/><property name="t" xpath="@id"/></object></level></application>`)}})
	if err != nil {
		t.Fatal(err)
	}
	d := read(New(base, Limits{Objects: 3, PropertyBytes: 5}), "http://a.test/", "<p>raven<ul>"+strings.Repeat("<li id=no>äääää", 9)+"</ul>")
	if len(d.Objects) != 3 || d.Objects[0].Properties["t"] != "ää" {
		t.Errorf("%+v", d.Objects)
	}
}

// TestExpressionsThatFail: whatever passes the loader may fail on a page, but never takes the page with it.
func TestExpressionsThatFail(t *testing.T) {
	for _, expr := range []string{"//li[substring(., 'x')]", "//li[substring(.)]", "//li[round('a') = 1]", "//li[matches(., '(')]", "//li[. + 'x' > 1]", "//li[position() = 'a']", "//li[contains(., //li)]", "//li[number(.) mod 0 = 1]", "//li[string-length(//p)]", "//li/..[translate(., 'ab')]"} {
		base, err := kb.Load(fstest.MapFS{"a.xml": {Data: []byte(`<application xmlns="` + kb.Namespace + `" name="a" category="blog"><detect text="raven"/><level name="all"><match xpath="` + strings.ReplaceAll(expr, ">", "&gt;") + `"/></level></application>`)}})
		if err != nil {
			continue
		}
		if d := read(New(base, DefaultLimits()), "http://a.test/", "<ul><li>raven 1<li>2</ul>"); d.Application != "a" {
			t.Errorf("%s: %+v", expr, d.Page)
		}
	}
}

// TestConcurrentUse: one helper, many pages at once, the same answers.
func TestConcurrentUse(t *testing.T) {
	h := shipped(t)
	body := wordpress + `<body class="single"><article class="hentry"><h1 class="entry-title">Ravens</h1><div class="entry-content">Text</div></article><a href="/wp-login.php">x</a>`
	want := read(h, "http://a.test/ravens/", body).Page
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := read(h, "http://a.test/ravens/", body).Page; !reflect.DeepEqual(got, want) {
					t.Errorf("%+v\nwant %+v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestDateTime(t *testing.T) {
	for value, want := range map[string]string{
		"2026-11-21T08:00:00+01:00": "2026-11-21T08:00:00+01:00", "2026-11-21": "2026-11-21T00:00:00Z", "Sat, 21 Nov 2026 08:00:00 GMT": "2026-11-21T08:00:00Z",
		"Posted: Thu Dec 17, 2009 1:44 pm Post subject: x": "2009-12-17T13:44:00Z", "on December 17, 2009": "2009-12-17T00:00:00Z", "17 Dec 2009, 13:44": "2009-12-17T13:44:00Z",
		"yesterday": "yesterday", "": "", "May 99, 2009": "May 99, 2009",
	} {
		if got := dateTime(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	h := shipped(b)
	body := []byte(wordpress + `<body class="single"><article class="hentry"><h1 class="entry-title">Ravens</h1><div class="entry-content">` + strings.Repeat(`<div class="p"><p>The raven <a href="/x">flew</a> over the hills.</p></div>`, 300) + `</div></article>`)
	b.ReportAllocs()
	for b.Loop() {
		d := page.Parse(page.Input{URL: "http://a.test/ravens/", MIME: "text/html", Body: body}, page.DefaultLimits())
		h.Apply(d, body)
	}
}

// TestWide: a page of two bytes a letter is read by its tree alone.
func TestWide(t *testing.T) {
	wide := func(s string) []byte {
		b := []byte{0xff, 0xfe}
		for _, c := range []byte(s) {
			b = append(b, c, 0)
		}
		return b
	}
	for body, want := range map[string]string{
		`<html><head><title>Ravens</title></head><body><p>nothing of any application</p></body></html>`: "",
		wordpress + `<body><p>ravens</p></body></html>`:                                                 "WordPress",
	} {
		raw := wide(body)
		d := page.Parse(page.Input{URL: "http://a.test/x", MIME: "text/html", Body: raw}, page.DefaultLimits())
		shipped(t).Apply(d, raw)
		if d.Charset != "utf-16le" || d.Application != want {
			t.Errorf("charset %s, application %q, want %q", d.Charset, d.Application, want)
		}
	}
}

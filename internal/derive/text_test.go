package derive_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/derive"
)

// forum is a page with posts that its data names.
const forum = `<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Raben</title>
<meta name="author" content="Redaktion"><meta property="article:published_time" content="2025-03-04T05:06:07+01:00">
<script type="application/ld+json">[
{"@type": "DiscussionForumPosting", "headline": "Erster", "author": {"name": "Ä. Müller"}, "datePublished": "2024-01-02", "text": "Raben sind klug."},
{"@type": "Comment", "author": "B", "text": "Krähen auch."}]</script></head>
<body><h1>Raben und Krähen</h1><p>Ein Text über <b>Raben</b>.</p><p>Noch ein Text.</p>
<a href="/2">nächste Seite</a> <a href="http://b.example/x?a=1&amp;b=2">anderswo</a><img src="/p.png"></body></html>`

// TestText: what the step says of a page.
func TestText(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", forum))
	_, lines := r.derived(m.Segment())
	if len(lines) != 1 {
		t.Fatalf("%+v", lines)
	}
	d := lines[0]
	if d.URL != "http://a.example/1" || d.Date.Unix() != epoch.Unix() || d.Title != "Raben" || d.Language != "de" || d.Author != "Redaktion" || !d.Published.Equal(time.Date(2025, 3, 4, 4, 6, 7, 0, time.UTC)) {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(d.Text, "Raben und Krähen\nEin Text über Raben.\nNoch ein Text.") {
		t.Errorf("text %q", d.Text)
	}
	if len(d.Anchors) != 2 || d.Anchors[0] != (derive.Anchor{URL: "http://a.example/2", Text: "nächste Seite"}) || d.Anchors[1] != (derive.Anchor{URL: "http://b.example/x?a=1&b=2", Text: "anderswo"}) {
		t.Errorf("anchors %+v", d.Anchors)
	}
	if len(d.Objects) != 2 || d.Objects[0].Type != "post" || d.Objects[0].Title != "Erster" || d.Objects[0].Author != "Ä. Müller" || d.Objects[0].Text != "Raben sind klug." ||
		!d.Objects[0].Date.Equal(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)) || d.Objects[1].N != 1 || d.Objects[1].Text != "Krähen auch." {
		t.Errorf("objects %+v", d.Objects)
	}
}

// TestBylineOfList: a page with several articles has neither the author nor the date of the first of them.
func TestBylineOfList(t *testing.T) {
	r := newRig(t)
	article := func(author string) string {
		return `{"@type": "Article", "headline": "Raben", "author": {"name": "` + author + `"}, "datePublished": "2024-01-02"}`
	}
	list := func(articles string) string {
		return `<title>Raben</title><meta name="author" content="Redaktion"><script type="application/ld+json">[` + articles + `]</script><p>Ein Text.</p>`
	}
	m, _ := r.segment("b", nil, html("http://a.example/1", list(article("A"))), html("http://a.example/2", list(article("A")+","+article("B"))))
	_, lines := r.derived(m.Segment())
	if len(lines) != 2 {
		t.Fatalf("%+v", lines)
	}
	if d := lines[0]; d.Author != "A" || d.Published.IsZero() {
		t.Errorf("one article: %+v", d)
	}
	if d := lines[1]; d.Author != "Redaktion" || !d.Published.IsZero() {
		t.Errorf("two articles: %+v", d)
	}
}

// TestTextOfObjects: the texts of objects are cut out of the page; of one that was opened, out of the document that the browser made.
func TestTextOfObjects(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil, html("http://a.example/1", raven("raven")), html("http://a.example/2", "<script>load()</script>").opened(raven("crow")))
	_, lines := r.derived(m.Segment())
	if len(lines) != 2 {
		t.Fatalf("%+v", lines)
	}
	for i, bird := range []string{"raven", "crow"} {
		d := lines[i]
		if len(d.Objects) != 1 || !strings.HasPrefix(d.Objects[0].Text, "The "+bird+" flew") && !strings.Contains(d.Objects[0].Text, "The "+bird+" flew") || !strings.Contains(d.Text, bird) {
			t.Errorf("%+v", d)
		}
	}
}

// TestWhatHasText: which captures have a line.
func TestWhatHasText(t *testing.T) {
	r := newRig(t)
	m, _ := r.segment("b", nil,
		html("http://a.example/1", "<p>one</p>"),
		html("http://a.example/revisit", "<p>one</p>"),
		exchange{url: "http://a.example/plain", mime: "text/plain", body: "plain text\n\nof two blocks"},
		exchange{url: "http://a.example/robots.txt", mime: "text/plain", body: "User-agent: *\nDisallow: /x\n"},
		exchange{url: "http://a.example/gone", mime: "text/html", status: 404, body: "<p>not found</p>"},
		exchange{url: "http://a.example/moved", mime: "text/html", status: 301, head: "Location: /1\r\n", body: "<p>moved</p>"},
		exchange{url: "http://a.example/s.css", mime: "text/css", body: "p{color:red}"},
		exchange{url: "http://a.example/s.js", mime: "application/javascript", body: "alert(1)"},
		exchange{url: "http://a.example/p.png", mime: "image/png", body: "\x89PNG"},
		html("http://a.example/empty", ""),
		exchange{url: "http://a.example/unparsed", mime: "text/html", body: "<title>T</title><p>two</p>", unparsed: true},
	)
	result, lines := r.derived(m.Segment())
	var got []string
	for _, d := range lines {
		got = append(got, strings.TrimPrefix(d.URL, "http://a.example/"))
	}
	if strings.Join(got, " ") != "1 plain unparsed" || result.Captures != 11 || result.Failed != 0 {
		t.Errorf("%q, %+v", got, result)
	}
	if lines[2].Title != "T" {
		t.Errorf("%+v", lines[2])
	}
}

// TestHostile: pages that are huge, deep, in a wrong encoding or made to break out cost what they may cost, and no other page its line. All texts are valid UTF-8 within the bounds.
func TestHostile(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("a long text of words ", 200_000) // 4 MB
	links := &strings.Builder{}
	for i := range 3 * derive.MaxAnchors {
		links.WriteString(`<a href="/` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + `">a</a>`)
	}
	m, _ := r.segment("b", nil,
		html("http://a.example/0", "<p>"+long),
		html("http://a.example/1", strings.Repeat("<div>", 50_000)+"deep"),
		exchange{url: "http://a.example/2", mime: "text/html; charset=utf-8", body: "<title>\xff\xfe t</title><p>Gr\xfc\xdfe \x00 \xc3\x28</p>"},
		exchange{url: "http://a.example/3", mime: "text/html; charset=utf-16", body: "<p>no such encoding</p>"},
		exchange{url: "http://a.example/4", mime: "text/html; charset=windows-1251", body: "<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>"},
		exchange{url: "http://a.example/5", mime: "text/html", head: "Content-Encoding: gzip\r\n", body: "<p>no gzip"},
		exchange{url: "http://a.example/6", mime: "text/html", head: "Content-Encoding: unheard\r\n", body: "<p>no coding"},
		exchange{url: "http://a.example/7", mime: "text/html", head: "Transfer-Encoding: chunked\r\n", body: "zz\r\nno chunks", unparsed: true},
		html("http://a.example/8", "<title>"+strings.Repeat("ü", 10_000)+"</title>"),
		html("http://a.example/9", links.String()),
		html("http://a.example/10", `<title>"}</script>`+"\n\u2028"+`{"url":"x"}</title><p>`+"\u2028\u0001"+`</p>`),
		html("http://a.example/11", `<meta name="author" content="`+strings.Repeat("é", 5000)+`"><p>text`),
		exchange{url: "http://a.example/12", mime: "application/pdf", body: "%PDF-1.7 broken"},
		exchange{url: "http://a.example/13", mime: "text/xml", body: "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;&b;" + strings.Repeat("<a>", 5000)},
	)
	result, lines := r.derived(m.Segment())
	byURL := map[string]derive.Document{}
	for _, d := range lines {
		byURL[strings.TrimPrefix(d.URL, "http://a.example/")] = d
		for _, text := range []string{d.Title, d.Text, d.Author} {
			if !utf8.ValidString(text) {
				t.Errorf("%s: %q", d.URL, cutTo(text))
			}
		}
		if len(d.Text) > derive.MaxText || len(d.Title) > derive.MaxTitle || len(d.Author) > derive.MaxAuthor || len(d.Anchors) > derive.MaxAnchors {
			t.Errorf("%s is beyond the bounds: %d, %d, %d, %d", d.URL, len(d.Text), len(d.Title), len(d.Author), len(d.Anchors))
		}
	}
	if n := len(byURL["0"].Text); n < derive.MaxText/2 {
		t.Errorf("of the long text %d bytes are left", n)
	}
	for url, want := range map[string]string{"1": "deep", "2": "Gr", "4": "Привет"} {
		if !strings.Contains(byURL[url].Text, want) {
			t.Errorf("%s: %q, want %q", url, cutTo(byURL[url].Text), want)
		}
	}
	if len(byURL["9"].Anchors) != derive.MaxAnchors || byURL["11"].Author != "" || // no name is that long
		!strings.HasPrefix(byURL["10"].Title, `"}</script>`) {
		t.Errorf("%d anchors, author %q, title %q", len(byURL["9"].Anchors), byURL["11"].Author, byURL["10"].Title)
	}
	if result.Captures != 14 || result.Lines != len(lines) || result.Failed > 3 {
		t.Errorf("%+v", result.Counts)
	}
	t.Log(result.Failures)
}

func cutTo(s string) string { return s[:min(len(s), 100)] }

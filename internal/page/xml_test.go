package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/urls"
)

func TestXML(t *testing.T) {
	const sm = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	tests := []struct{ name, body, want, blocks string }{
		{"sitemap", `<?xml version="1.0"?><urlset ` + sm + `><url><loc> http://a.test/1 </loc><lastmod>2026</lastmod></url><url><loc><![CDATA[http://a.test/2?a=1&b=2]]></loc></url></urlset>`, "M /1||-\nM /2?a=1&b=2||-", ""},
		{"without namespace", `<urlset><url><loc>/1</loc></url></urlset>`, "M /1||-", ""},
		{"with a prefix", `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>/1</s:loc></s:url></s:urlset>`, "M /1||-", ""},
		{"images", `<urlset ` + sm + ` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>/1</loc><image:image><image:loc>/i.png</image:loc></image:image></url></urlset>`, "M /1||-\nX /i.png||-", ""},
		{"index", `<sitemapindex ` + sm + `><sitemap><loc>http://a.test/s1.xml</loc></sitemap></sitemapindex>`, "M /s1.xml||-", ""},
		{"breaks in the middle", `<urlset><url><loc>/1</loc></url><url><loc>/2</loc><url><`, "M /1||-\nM /2||-", ""},
		{"bare ampersand", `<urlset><url><loc>/1?a=1&b=2</loc></url></urlset>`, "M /1?a=1&b=2||-", ""},
		{"languages", `<urlset ` + sm + ` xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>/en</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/></url></urlset>`, "M /en||-\nM /de||-", ""},
		{"videos", `<urlset ` + sm + ` xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><url><loc>/1</loc><video:video><video:content_loc>/v.mp4</video:content_loc><video:player_loc>/p</video:player_loc></video:video></url></urlset>`, "M /1||-\nX /v.mp4||-\nX /p||-", ""},
		{"index without loc", `<sitemapindex><sitemap>http://a.test/s1.xml</sitemap><sitemap>http://a.test/s2.xml<lastmod>2026</lastmod></sitemap></sitemapindex>`, "M /s1.xml||-\nM /s2.xml||-", ""},
		{"in capitals", `<URLSET><URL><LOC>/1</LOC></URL></URLSET>`, "M /1||-", ""},
		{"damaged in the middle", "<urlset><url><loc>/1</loc></url><url><loc>/2\x01</loc></url><url><loc>/3?a&amp;b</loc></url></urlset>", "M /1||-\nM /3?a&b||-", ""},
		{"HTML's entities", `<urlset><url><loc>/1?a=&eacute;</loc></url></urlset>`, "M /1?a=%C3%A9||-", ""},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split("<urlset><loc>/1</loc></urlset>", ""), "\x00") + "\x00", "M /1||-", ""},
		{"comment before the root", "<!-- made by hand -->\n<?xml-stylesheet href='s.xsl'?><urlset><loc>/1</loc></urlset>", "E /s.xsl||-\nM /1||-", ""},
		{"RSS with all kinds of address", `<rss xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wfw="http://wellformedweb.org/CommentAPI/" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<image><url>/logo.png</url><title>Logo</title><link>/</link></image><title>Ravens</title><item><title>One</title><guid>http://a.test/g</guid><comments>http://a.test/c</comments><wfw:commentRss>http://a.test/cr</wfw:commentRss><enclosure url="/e.mp3"/><media:content url="/m.jpg" medium="image"/>
<content:encoded><![CDATA[<p>Long <a href="/in">text</a><img src="/i.png"></p>]]></content:encoded></item></channel></rss>`,
			"X /logo.png||-\nL /|Ravens|-\nL /g|One|Long text\nL /c|One|Long text\nL /cr|One|Long text\nL /e.mp3|One|Long text\nX /m.jpg||Long text\nL /in|text|Long text\nX /i.png||Long text", "Ravens/One/Long text"},
		{"guid that is no address", `<rss><item><guid isPermaLink="false">http://a.test/1</guid></item><item><guid isPermaLink="false">http://a.test/2</guid><link>/3</link></item><item><guid>tag:4</guid></item></rss>`, "L /1||-\nL /3||-", ""},
		{"escaped HTML", `<rss><item><title>A &lt;b&gt;bold&lt;/b&gt; one</title><description>&lt;p&gt;See &lt;a href="/x"&gt;there&lt;/a&gt;&lt;/p&gt;&lt;meta http-equiv=refresh content="0;/y"&gt;&lt;meta name=robots content=none&gt;&lt;base href=/z/&gt;</description></item></rss>`, "L /x|there|See there", "A bold one/See there"},
		{"XHTML in Atom", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><entry xml:base="2026/"><title type="xhtml"><div>One <b>two</b></div></title><link href="1"/><link rel="edit" href="/api"/><content type="xhtml"><div><p>See <a href="2">that</a>.</p></div></content></entry><entry><link href="3"/></entry></feed>`,
			"L /blog/2026/1|One two|See that.\nL /blog/2026/2|that|See that.\nL /blog/3||-", "One two/See that."},
		{"feed that breaks in the middle", `<rss><item><link>/1</link><title>One</title></item><item><link>/2</link><title>Tw`, "L /1|One|-\nL /2||-", "One"},
		{"RSS", `<rss version="2.0"><channel><title>Ravens</title><link>http://a.test/</link><item><title>One</title><link>/1</link><description>About one</description></item></channel></rss>`, "L /|Ravens|-\nL /1|One|About one", "Ravens/One/About one"},
		{"RSS with Atom's link", `<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><atom:link href="/feed" rel="self"/><item><link>/1</link></item></channel></rss>`, "L /feed||-\nL /1||-", ""},
		{"RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><title>One</title><link>/1</link></item></rdf:RDF>`, "L /1|One|-", "One"},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title>Ravens</title><link rel="alternate" href="/1"/><entry><title>One</title><link href="/2"/><summary>Sum</summary></entry></feed>`, "L /1|Ravens|-\nL /2|One|Sum", "Ravens/One/Sum"},
		{"other XML", `<note><link>/1</link><loc>/2</loc></note>`, "", ""},
		{"latin", `<?xml version="1.0" encoding="iso-8859-1"?><rss><title>` + "\xe4" + `</title></rss>`, "", "ä"},
		{"unknown charset", `<?xml version="1.0" encoding="runes"?><rss><link>/1</link></rss>`, "", ""},
		{"no XML", "hello", "", ""},
		{"nothing", "", "", ""},
		{"entities", `<!DOCTYPE x [<!ENTITY a "&b;&b;">]><rss><title>&a;</title><link>/1</link></rss>`, "L /1|&a;|-", "&a;"},
		{"deep", strings.Repeat("<urlset>", 100_000) + "<loc>/1</loc>", "M /1||-", ""},
	}
	for _, test := range tests {
		d := Parse(Input{URL: "http://a.test/sitemap.xml", MIME: "application/xml", Body: []byte(test.body)}, DefaultLimits())
		if got := links(d); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
		if got := strings.Join(d.Blocks, "/"); got != test.blocks {
			t.Errorf("%s: text %q, want %q", test.name, got, test.blocks)
		}
	}
}

// TestSitemapsByContent: sitemaps and feeds are known whatever their header says.
func TestSitemapsByContent(t *testing.T) {
	const xml, list = "<?xml version='1.0'?>\n<urlset><url><loc>/1</loc></url></urlset>", "\xef\xbb\xbfhttp://a.test/1\r\n\r\nhttp://a.test/2\n"
	long := strings.Repeat("http://a.test/1\n", 500) + "\nno URL\nhttp://a.test/2"
	for _, test := range []struct{ name, mime, body, want string }{
		{"XML as HTML", "text/html; charset=utf-8", xml, "M /1||-"},
		{"XML as text", "text/plain", xml, "M /1||-"},
		{"no type", "", "<urlset><loc>/1</loc></urlset>", "M /1||-"},
		{"feed as HTML", "text/html", "<rss version='2.0'><item><link>/1</link></item></rss>", "L /1||-"},
		{"RDF as HTML", "text/html", "<rdf:RDF><item><link>/1</link></item></rdf:RDF>", "L /1||-"},
		{"XHTML", "text/html", "<?xml version='1.0'?><html><a href=1>x</a></html>", "L /1|x|x"},
		{"list", "text/plain; charset=utf-8", list, "M /1||-\nM /2||-"},
		{"text with a URL", "text/plain", "See\nhttp://a.test/1", ""},
		{"packed", "application/gzip", fixture.Gzip(xml), "M /1||-"},
		{"packed, as XML", "text/xml", fixture.Gzip(xml), "M /1||-"},
		{"packed, no type", "application/octet-stream", fixture.Gzip(xml), "M /1||-"},
		{"packed list", "application/x-gzip", fixture.Gzip(list[3:]), "M /1||-\nM /2||-"},
		{"packed long list", "application/x-gzip", fixture.Gzip(long), "M /1||-\nM /2||-"},
		{"packed, cut off", "application/gzip", fixture.Gzip(xml)[:70], "M /1||-"},
		{"packed HTML", "application/gzip", fixture.Gzip("<html><a href=1>x</a>"), ""},
		{"JSON Feed", "application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","title":"Ravens","home_page_url":"/","items":[{"id":"http://a.test/id","title":"One"},{"id":"2","url":"/2","content_html":"<p>See <a href=/3>it</a>"}]}`,
			"L /id|One|-\nL /2||See it\nL /3|it|See it"},
		{"JSON Feed by its version", "application/json", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/1"}]}`, "L /1||-"},
		{"other JSON", "application/json", `{"items":[{"url":"/1"}]}`, ""},
	} {
		d := Parse(Input{URL: "http://a.test/", MIME: test.mime, Body: []byte(test.body)}, DefaultLimits())
		if got := links(d); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestSitemapLimits: a sitemap has its own bound on links; a small file that unpacks to a large one is read up to the bound on decoded bytes.
func TestSitemapLimits(t *testing.T) {
	l := DefaultLimits()
	l.Links, l.SitemapLinks, l.DecodedBytes = 1, 3, 4000
	body := "<urlset>" + strings.Repeat(" ", 3000)
	for i := range 5 {
		body += fmt.Sprintf("<url><loc>/%d</loc></url>", i)
	}
	bomb := "<urlset><loc>/1</loc>" + strings.Repeat(" ", 1<<20) + "<loc>/2</loc>"
	for _, test := range []struct {
		name, mime, body string
		links, cut       int
	}{
		{"sitemap", "text/xml", body, 3, 2}, {"feed", "text/xml", "<rss><link>/1</link><link>/2</link></rss>", 1, 1},
		{"list", "text/plain", "http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\nhttp://a.test/4", 3, 1}, {"bomb", "application/gzip", fixture.Gzip(bomb), 1, 0},
	} {
		d := Parse(Input{URL: "http://a.test/", MIME: test.mime, Body: []byte(test.body)}, l)
		if len(d.Links) != test.links || d.LinksCut != test.cut {
			t.Errorf("%s: %d links, %d cut; want %d and %d", test.name, len(d.Links), d.LinksCut, test.links, test.cut)
		}
	}
}

func TestLimits(t *testing.T) {
	l := DefaultLimits()
	l.Links, l.TextBytes, l.BlockBytes, l.AnchorBytes = 3, 100, 20, 5
	read := func(mime, body string) *Document {
		return Parse(Input{URL: "http://a.test/", MIME: mime, Body: []byte(body)}, l)
	}
	d := read("text/html", `<a href=1>ravenous</a><a href=2>ääää</a><a href=1></a><a href=3></a><a href=4></a><a href=5></a>`)
	if len(d.Links) != 3 || d.LinksCut != 2 || d.Links[0].Anchor != "raven" || d.Links[1].Anchor != "ää" {
		t.Errorf("%+v, cut %d", d.Links, d.LinksCut)
	}
	for name, text := range map[string]string{
		"words": strings.Repeat("raven ", 200), "no spaces": strings.Repeat("x", 2000), "runes": strings.Repeat("鴉", 500), "pieces": strings.Repeat("ab <b>cd</b> ", 100),
	} {
		for _, mime := range []string{"text/html", "text/plain"} {
			total := 0
			d := read(mime, text)
			for _, block := range d.Blocks {
				total += len(block)
				if len(block) > 20 || strings.ContainsRune(block, '\ufffd') {
					t.Errorf("%s, %s: a block of %d bytes: %q", mime, name, len(block), block)
				}
				if name == "words" && strings.Trim(strings.ReplaceAll(block, "raven", ""), " ") != "" {
					t.Errorf("%s: a word was cut: %q", mime, block)
				}
			}
			if total > 120 || total < 60 {
				t.Errorf("%s, %s: %d bytes of text", mime, name, total)
			}
		}
	}
}

// FuzzParse: for any input, the result keeps the invariants of Page.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{"text/html", `<base href=/b/><p>One <a href="x y?q=%zz#f">r</a><img srcset="a 1x,b"><meta http-equiv=refresh content="1;url=/z">`},
		{"text/html; charset=shift_jis", "<title>\x83\x8f</title><svg><a href=x>y</svg><select><a href=z>"}, {"", "\xff\xfe<\x00p\x00"},
		{"text/xml", `<urlset><loc>/1</loc>`}, {"application/rss+xml", `<rss><link>/1</link>`}, {"text/plain", "a\n\nb\x00\xff"},
		{"text/html", strings.Repeat("<div>", 600) + "<a href=x>"}, {"application/gzip", fixture.Gzip("<urlset><loc>/1</loc>")}, {"text/plain", "http://a.test/1\n"},
		{"text/css", `@charset "gbk";@import "a";b{c:url(d\65) image-set("e" 1x)}`}, {"image/svg+xml", `<?xml-stylesheet href="a"?><svg><image xlink:href=b /><style>c{d:url(e)}`},
		{"text/javascript", `a.src="b.png";c="https:\/\/d.test\/e.png?f" ? "/g.gif" : '/h.gif'`}, {"application/manifest+json", `{"icons":[{"src":"a"}],"shortcuts":[{"icons":[{"src":"b"}]}]}`},
		{"text/html", `<iframe srcdoc="<base href=/b/><style>a{b:url(c)}</style><iframe srcdoc='d'>"></iframe><img data-src=e.png data-srcset="f 1x" data-bg="url(g)"><link rel=stylesheet href="data:text/css,a{b:url(c)}">`},
		{"text/xml", `<feed xml:base="/b/"><entry><content type="xhtml"><div><a href="x">y</a></div></content></entry>`}, {"application/feed+json", `{"items":[{"url":"/1","content_html":"<p>x"}]}`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	limits := DefaultLimits()
	limits.Links, limits.SitemapLinks, limits.TextBytes, limits.BlockBytes = 50, 50, 4000, 100
	f.Fuzz(func(t *testing.T, mime string, body []byte) {
		d := Parse(Input{URL: "http://a.test/dir/page", MIME: mime, RobotsTag: mime, Body: body}, limits)
		for _, l := range d.Links {
			if u, err := urls.Parse(l.URL); err != nil || u.String() != l.URL {
				t.Errorf("link %q is not canonical: %v", l.URL, err)
			}
			if l.Block < -1 || l.Block >= len(d.Blocks) {
				t.Errorf("block %d of %d", l.Block, len(d.Blocks))
			}
			if !strings.ContainsRune("LERMX", rune(l.Hop)) || l.Hop == 0 || len(l.Anchor) > limits.AnchorBytes {
				t.Errorf("%+v", l)
			}
		}
		if len(d.Links) > limits.Links || crawl.Bytes(len(strings.Join(d.Blocks, ""))) > limits.TextBytes+100 {
			t.Errorf("%d links, %d blocks", len(d.Links), len(d.Blocks))
		}
		for _, b := range d.Blocks {
			if b == "" || b != strings.ToValidUTF8(b, "?") || len(b) > limits.BlockBytes+4 {
				t.Errorf("block %q", b)
			}
		}
	})
}

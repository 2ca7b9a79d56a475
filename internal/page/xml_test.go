package page

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

func TestXML(t *testing.T) {
	const sm = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	tests := []struct{ name, body, want, blocks string }{
		{"sitemap", `<?xml version="1.0"?><urlset ` + sm + `><url><loc> http://a.test/1 </loc><lastmod>2026</lastmod></url><url><loc><![CDATA[http://a.test/2?a=1&b=2]]></loc></url></urlset>`, "M /1||-\nM /2?a=1&b=2||-", ""},
		{"without namespace", `<urlset><url><loc>/1</loc></url></urlset>`, "M /1||-", ""},
		{"with a prefix", `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>/1</s:loc></s:url></s:urlset>`, "M /1||-", ""},
		{"images", `<urlset ` + sm + ` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>/1</loc><image:image><image:loc>/i.png</image:loc></image:image></url></urlset>`, "M /1||-\nE /i.png||-", ""},
		{"index", `<sitemapindex ` + sm + `><sitemap><loc>http://a.test/s1.xml</loc></sitemap></sitemapindex>`, "M /s1.xml||-", ""},
		{"breaks in the middle", `<urlset><url><loc>/1</loc></url><url><loc>/2</loc><url><`, "M /1||-\nM /2||-", ""},
		{"bare ampersand", `<urlset><url><loc>/1?a=1&b=2</loc></url></urlset>`, "M /1?a=1&b=2||-", ""},
		{"RSS", `<rss version="2.0"><channel><title>Ravens</title><link>http://a.test/</link><item><title>One</title><link>/1</link><description>About one</description></item></channel></rss>`, "L /||One\nL /1||About one", "Ravens/One/About one"},
		{"RSS with Atom's link", `<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><atom:link href="/feed" rel="self"/><item><link>/1</link></item></channel></rss>`, "L /1||-", ""},
		{"RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><title>One</title><link>/1</link></item></rdf:RDF>`, "L /1||-", "One"},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title>Ravens</title><link rel="alternate" href="/1"/><entry><title>One</title><link href="/2"/><summary>Sum</summary></entry></feed>`, "L /1||One\nL /2||Sum", "Ravens/One/Sum"},
		{"other XML", `<note><link>/1</link><loc>/2</loc></note>`, "", ""},
		{"latin", `<?xml version="1.0" encoding="iso-8859-1"?><rss><title>` + "\xe4" + `</title></rss>`, "", "ä"},
		{"unknown charset", `<?xml version="1.0" encoding="runes"?><rss><link>/1</link></rss>`, "", ""},
		{"no XML", "hello", "", ""},
		{"nothing", "", "", ""},
		{"entities", `<!DOCTYPE x [<!ENTITY a "&b;&b;">]><rss><title>&a;</title><link>/1</link></rss>`, "L /1||-", "&a;"},
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
		{"text/html", strings.Repeat("<div>", 600) + "<a href=x>"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	limits := DefaultLimits()
	limits.Links, limits.TextBytes, limits.BlockBytes = 50, 4000, 100
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

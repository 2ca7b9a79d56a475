package aah

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// sane checks the invariants of a page that the helper has read; links are those that it had before.
func sane(t *testing.T, d *crawl.Parsed, links []crawl.Outlink, limits Limits) {
	t.Helper()
	if d.Level != "" && !slices.Contains(kb.Levels, d.Level) {
		t.Errorf("level %q", d.Level)
	}
	if !(d.Confidence >= 0 && d.Confidence <= 1) {
		t.Errorf("confidence %g", d.Confidence)
	}
	if n := len(d.Content); n > 0 && n != len(d.Blocks) {
		t.Errorf("content of %d blocks, there are %d", n, len(d.Blocks))
	}
	if len(d.Objects) > limits.Objects {
		t.Errorf("%d objects", len(d.Objects))
	}
	for _, o := range d.Objects {
		if !(o.Confidence >= 0 && o.Confidence <= 1) || o.Type == "" || o.Rule == "" || len(o.Properties) == 0 {
			t.Errorf("%+v", o)
		}
		if len(o.Properties) > 40*extract.MaxValues {
			t.Errorf("%s has %d properties", o.Type, len(o.Properties))
		}
		for _, p := range o.Properties {
			if p.Name == "" || !utf8.ValidString(p.Value) || len(p.Value) > limits.PropertyBytes {
				t.Errorf("%s %q: %d bytes: %.80q", o.Type, p.Name, len(p.Value), p.Value)
			}
		}
	}
	if p := adapt.DecodePrints(d.Prints); d.Prints != nil && (p == nil || len(p.Objects) > adapt.MaxPrints || p.Level != d.Level && d.LevelRule != "learned") {
		t.Errorf("prints %x of level %q", d.Prints, d.Level)
	}
	if len(d.Links) > len(links) {
		t.Errorf("%d links, there were %d", len(d.Links), len(links))
	}
	had := map[string]bool{}
	for _, l := range links {
		had[l.URL] = true
	}
	for _, l := range d.Links {
		if !(l.Prior >= 0 && l.Prior <= 1) || l.Level != "" && !slices.Contains(kb.Levels, l.Level) {
			t.Errorf("%+v", l)
		}
		if l.Hop != crawl.HopLink && l.Hop != crawl.HopPaging && !had[l.URL] {
			t.Errorf("%c %s was not there", l.Hop, l.URL)
		}
		if !had[l.URL] { // in its normal form
			if u, err := urls.Parse(l.URL); err != nil || u.String() != l.URL {
				t.Errorf("%s is not canonical: %v", l.URL, err)
			}
		}
	}
}

// odd are badly written pieces of pages.
var odd = map[string]string{
	"nothing":              "",
	"a byte":               "\xff",
	"zeros":                strings.Repeat("\x00", 100),
	"unclosed":             "<div class=post><p class='x<b><table><tr><td>a<div><a href=/x",
	"closed alone":         "</div></p></body></html></table></td>",
	"tables":               "<table><div>a<table>b<tr>c</table></div><caption>d<td>e<form><input></table>f</form>g",
	"wrong order":          "<b><i><p>a</b></i></p><a href=1><a href=2><li><ul></li></ul></a>",
	"quotes":               `<p class="a'b class=c"d" id=''e'>x<a href='"x">'>y</a>`,
	"comments":             "<!-- <div class=post> --!><p>a<!--><!---><!doctype x><![CDATA[b]]><?c?>",
	"entities":             "<p class='&#0;&#xD800;&#x110000;'>&amp&lt&#1;&#x85;&notanentity;&#99999999999;",
	"raw text":             "<script><!--<script></script><div>--></script><style><div></style><textarea><p></textarea><title><b></title><xmp><p></xmp><plaintext></p>",
	"foreign":              "<svg><foreignObject><p class=post>a<svg><title>b</svg><math><mi><p>c</math><svg><a xlink:href=/x>d",
	"templates":            "<template><p>a<template><tr><td>b</template></template><noscript><p>c</noscript><select><option>d<p>e</select>",
	"frames":               "<frameset><frame src=/x><noframes><p>a</noframes></frameset>",
	"several bases":        "<base href=http://b.test/><base href=javascript:x><a href=y>z</a>",
	"JSON-LD":              `<script type="application/ld+json">{"@type":"Article","headline":"&lt;b>x","author":{"name":["a",{"name":7}]},"datePublished":1e400,"keywords":",,;a","url":"::","comment":{"@type":["Comment"],"text":"\ud800"}}</script>`,
	"JSON-LD of nothing":   `<script type="application/ld+json">[null,[],{},{"@type":null},{"@type":[[]]},{"@type":"Article"},7,"x"]</script>`,
	"classes of all sorts": "<div class='\tpost\n\f post\r'><p class=''>a<p class=\u00a0>b",
	"UTF-16":               "\xff\xfe<\x00p\x00>\x00a\x00",
	"other charset":        "<meta charset=shift_jis>\x83\x65\x83\xff\x80",
}

func TestOddPages(t *testing.T) {
	h := shippedLearner(t)
	for name, body := range odd {
		for _, head := range []string{"", `<meta name="generator" content="WordPress 6.4"><body class="single">`, `<body id="phpbb" class="section-viewtopic">Powered by phpBB`, `<html id="XF" data-app="public">`} {
			d := page.Parse(page.Input{URL: "http://a.test/viewtopic.php?t=1", MIME: "text/html", Body: []byte(head + body)}, page.DefaultLimits())
			links := slices.Clone(d.Links)
			read := apply(h, d, Input{Head: []byte(body)})
			sane(t, read, links, DefaultLimits())
			d = page.Parse(page.Input{URL: "http://a.test/viewtopic.php?t=1", MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
			links = slices.Clone(d.Links)
			sane(t, apply(h, d, Input{Before: read.Prints}), links, DefaultLimits())
			if t.Failed() {
				t.Fatalf("%s behind %s", name, head)
			}
		}
	}
}

// shippedLearner is a helper with the base that is built in, which learns.
func shippedLearner(t testing.TB) *Helper {
	t.Helper()
	b, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := New(b, DefaultLimits())
	if h.Adaptations, err = adapt.OpenStore(""); err != nil {
		t.Fatal(err)
	}
	h.OnError = func(err error) { t.Error(err) }
	return h
}

// FuzzApply: any page is sane afterwards. An application gives the page prints of its own texts.
func FuzzApply(f *testing.F) {
	h := shippedLearner(f)
	for i, app := range h.Base().Applications {
		for j, x := range app.Examples {
			if (i+j)%4 == 0 && len(x.Page) < 4000 {
				f.Add(x.URL, x.Page, x.Headers, []byte(nil), "", "", uint8(i))
				f.Add("http://a.test/x", x.Page, "", []byte(nil), app.Name, x.Level, uint8(i))
			}
		}
	}
	for _, body := range odd {
		f.Add("http://a.test/viewtopic.php?t=1", body, "Set-Cookie: phpbb3_x_sid=1\r\n:\r\nx", []byte{0x84, 0x60}, "phpBB", "thread", uint8(1))
	}
	f.Fuzz(func(t *testing.T, url, body, head string, raw []byte, app, level string, bits uint8) {
		if len(body) > 1<<14 || len(url) > 2000 || len(head) > 4000 || len(raw) > 4000 {
			return
		}
		if u, err := urls.Parse(url); err == nil { // else Apply leaves the page alone
			url = u.String()
		}
		limits := DefaultLimits()
		limits.Nodes, limits.AdaptSteps = 1<<18, 1<<16
		if bits&1 != 0 {
			limits.Objects, limits.PropertyBytes = 7, extract.MaxDate+100 // dates that cannot be read are left as they are
		}
		h := New(h.Base(), limits)
		var err error
		if h.Adaptations, err = adapt.OpenStore(""); err != nil {
			t.Fatal(err)
		}
		h.OnError = func(err error) { t.Error(err) }
		mode := []string{"", crawl.HelperStrict, crawl.HelperLenient, crawl.HelperOff}[bits>>1&3]
		in := Input{Head: []byte(head), Mode: mode, Before: raw}
		if a := h.Base().Application(app); a != nil { // prints that may be of this page
			version := ""
			if bits&16 != 0 {
				version = "of another base"
			}
			if len(a.Versions) > 0 && bits&8 != 0 {
				version = a.Versions[0].Name
			}
			in.Before = printsOf(body, app, version, level)
		}
		for turn := range 3 {
			d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
			links, was := slices.Clone(d.Links), rendered(t, d)
			read := apply(h, d, in)
			sane(t, read, links, limits)
			if rendered(t, d) != was {
				t.Error("the page is another afterwards")
			}
			if u, err := urls.Trusted(url); err == nil { // what was learned is in force the next time
				if err := h.Adaptations.Update(u.Host(), func(s *adapt.Site) bool {
					for _, r := range s.Rules {
						r.Verified = adapt.EnoughPages
					}
					return true
				}); err != nil {
					t.Error(err)
				}
			}
			if in.Before = read.Prints; turn == 1 {
				in.Before = nil
			}
		}
	})
}

// printsOf makes prints of some of the elements of a page, as if they had been its posts.
func printsOf(body, app, version, level string) []byte {
	d := page.Parse(page.Input{URL: "http://a.test/", MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
	if d.Root == nil {
		return nil
	}
	e := xpath.NewEval(d.Root, 0)
	defer e.Free()
	var list []extract.Located
	for id := int32(2); id < int32(e.Tree.Len()); id += 3 {
		list = append(list, extract.Located{Type: "post", Parts: []extract.Part{{Name: "author", At: xpath.Ref{ID: id - 1, Attr: -1}}, {Name: "body", At: xpath.Ref{ID: id, Attr: -1}}}})
	}
	p := adapt.Prints{Application: app, Version: version, Level: level, Objects: adapt.PrintsOf(e.Tree, list)}
	return p.Encode()
}

package page

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// found writes the links of a response as "hop URL".
func found(d *Document) string {
	var out []string
	for _, l := range d.Links {
		out = append(out, l.Hop.String()+" "+strings.TrimPrefix(l.URL, "http://a.test"))
	}
	return strings.Join(out, ", ")
}

func TestStyleSheets(t *testing.T) {
	const russian = `a{background:url(?q=Эт)}`
	for _, c := range []struct{ name, url, mime, sheet, want, charset string }{
		{"relative to the sheet", "http://a.test/css/s.css?v=1", "text/css", `@import "b.css";a{background:url(../i.png)}b{background:url(i.png#x),url(#x),url(data:image/png;base64,AA==)}`,
			"E /css/b.css, E /i.png, E /css/i.png", "utf-8"},
		{"once", "http://a.test/s.css", "text/css", `a{background:url(i.png)}b{background:url("/i.png")}`, "E /i.png", "utf-8"},
		{"with a page's name", "http://a.test/s.php", "text/css;charset=utf-8", `a{background:url(i.png)}`, "E /i.png", "utf-8"},
		{"without a type", "http://a.test/s.CSS?v=1", "", `a{background:url(i.png)}`, "E /i.png", "utf-8"},
		{"as text", "http://a.test/s.css", "text/plain", `a{background:url(i.png)}`, "E /i.png", "utf-8"},
		{"as text with another name", "http://a.test/css", "text/plain", `a{background:url(i.png)}`, "", "utf-8"},
		{"of another type", "http://a.test/s.css", "application/json", `a{background:url(i.png)}`, "", ""},
		{"a page by mistake", "http://a.test/s.css", "text/html", `<a href=x>x</a>`, "L /x", "utf-8"},
		{"header", "http://a.test/", "text/css; charset=windows-1251", encoded(t, charmap.Windows1251, russian), "E /?q=%DD%F2", "windows-1251"},
		{"@charset", "http://a.test/", "text/css", `@charset "windows-1251";` + encoded(t, charmap.Windows1251, russian), "E /?q=%DD%F2", "windows-1251"},
		{"header before @charset", "http://a.test/", "text/css; charset=gbk", `@charset "utf-8";` + encoded(t, simplifiedchinese.GBK, "a{background:url(鴉.png)}"), "E /%E9%B4%89.png", "gbk"},
		{"byte order mark before @charset", "http://a.test/", "text/css", "\xef\xbb\xbf" + `@charset "gbk";` + russian, "E /?q=%D0%AD%D1%82", "utf-8"},
		{"UTF-16 in ASCII", "http://a.test/", "text/css", `@charset "utf-16";a{background:url(i.png)}`, "E /i.png", "utf-8"},
		{"unsaid", "http://a.test/", "text/css", "a{background:url(\xe4.png)}", "E /%C3%A4.png", "windows-1252"},
	} {
		d := Parse(Input{URL: c.url, MIME: c.mime, Body: []byte(c.sheet)}, DefaultLimits())
		if got := found(d); got != c.want || d.Charset != c.charset {
			t.Errorf("%s: %s in %s, want %s in %s", c.name, got, d.Charset, c.want, c.charset)
		}
	}
}

func TestStylesOfAPage(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"element", `<base href="/b/"><style>@import "s.css";p{background:url(i.png)}</style>`, "E /b/s.css, E /b/i.png"},
		{"element of another type", `<style type="text/less">p{background:url(i.png)}</style><style type="TEXT/CSS">p{background:url(j.png)}</style>`, "E /dir/j.png"},
		{"element of another medium", `<style media=print>p{background:url(i.png)}</style>`, "E /dir/i.png"},
		{"attribute", `<p style="background:url('i.png');color:red">x<b style="color:red">`, "E /dir/i.png"},
		{"entities in an attribute", `<p style="background:url(&quot;i.png?a=1&amp;b=2&quot;)">`, "E /dir/i.png?a=1&b=2"},
		{"noscript", `<noscript><style>p{background:url(i.png)}</style></noscript>`, "E /dir/i.png"},
		{"template", `<template><style>p{background:url(i.png)}</style></template>`, ""},
		{"comment", `<!--<style>p{background:url(i.png)}</style>-->`, ""},
		{"too deep for a tree", strings.Repeat("<div>", 600) + `<style>p{background:url(i.png)}</style><p style="background:url(j.png)">`, "E /dir/i.png, E /dir/j.png"},
		{"more than is read", `<style>` + strings.Repeat(" ", maxStyle-len("p{background:url(i.png)}")) + `p{background:url(i.png)}</style><p style="background:url(j.png)">`, "E /dir/i.png"},
	} {
		if got := found(parse(c.html)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	l := parse(`<p><b style="background:url(i.png)">`).Links[0]
	if l.Context != "b/css/url" || l.TagPath != "html/body/p/b" {
		t.Errorf("%+v", l)
	}
}

func BenchmarkStyleSheet(b *testing.B) {
	in := Input{URL: "http://a.test/s.css", MIME: "text/css", Body: []byte(strings.Repeat(".item > a:hover{color:#334455;margin:0 auto 1.5em;background:#fff url(../img/item.png) no-repeat 0 0}\n", 600))}
	b.SetBytes(int64(len(in.Body)))
	for b.Loop() {
		if d := Parse(in, DefaultLimits()); len(d.Links) != 1 {
			b.Fatal(d.Links)
		}
	}
}

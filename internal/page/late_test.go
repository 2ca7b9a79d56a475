package page

import (
	"fmt"
	"strings"
	"testing"
)

// TestLazy: attributes that a script loads images from are known by the form of their values.
func TestLazy(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<img data-src=a.png>`, "E /dir/a.png"},
		{`<img src=a.png data-src="/img?id=1">`, "E /dir/a.png, E /img?id=1"},
		{`<img data-srcset="a.png 1x, /b?w=2 2x">`, "E /dir/a.png, E /b?w=2"},
		{`<source data-lazy-srcset="a.webp 640w, b.webp 1280w 720h">`, "E /dir/a.webp, E /dir/b.webp"},
		{`<img data-original="http://b.test/a.JPG?x=1#f">`, "E http://b.test/a.JPG?x=1"},
		{`<img data-lazy-src=//b.test/a.png data-lazy=c.gif>`, "E http://b.test/a.png, E /dir/c.gif"},
		{`<div data-bg=a.png></div><div data-bg="url('b.png')"></div><div data-background-image=c.png></div>`, "E /dir/a.png, E /dir/b.png, E /dir/c.png"},
		{`<img lazysrc=a.png><img _src="/b.png"><img lowsrc=c.gif>`, "E /dir/a.png, E /b.png, E /dir/c.gif"},
		{`<video data-poster=a.png></video><iframe data-src="https://b.test/embed/1"></iframe>`, "E /dir/a.png, E https://b.test/embed/1"},
		{`<amp-img src="/a.png" srcset="b.png 2x" layout=fill></amp-img>`, "E /a.png, E /dir/b.png"},
		// What may be shown after a click.
		{`<a href=x data-src=big.png>x</a><img data-orig-file=http://b.test/a.jpg file="/b.jpg">`, "L /dir/x, X /dir/big.png, X http://b.test/a.jpg, X /b.jpg"},
		{`<div data-image=/a.png data-thumb="img/b.png"></div>`, "X /a.png, X /dir/img/b.png"},
		{`<div data-image=/a.png></div><img src=/a.png><div data-image=/a.png></div>`, "E /a.png"},
		// What is no image.
		{`<img alt="/a.png" title="b/c.jpg" data-title="a.png" data-name="IMG_1.JPG">`, ""},
		{`<img data-src="{{image}}.png"><img data-src="/img_{width}.png"><img data-src="a b.png"><img data-src="C:\a.png"><img data-src="data:image/png;base64,AA/x.png">`, ""},
		{`<img target="a/b.png"><img data-src="/__ID__/a.png"><img data-src="#a.png"><img data-src="javascript:a/b.png"><img data-src="[1] a/b.png"><img data-src='{"src":"/a.png"}'>`, ""},
		{`<div data-src="/ajax/comments"></div><div data-url="/x.html"></div><img data-id="1.5" data-ratio="3/4" data-src=placeholder>`, ""},
		{`<img data-note="see 2x" data-size="800 600w" data-x="1.5 2x, a/b">`, ""},
		{`<p title="http://b.test/a.png" src="/a.png" poster="/b.png">`, ""},
		{`<img onclick="show('/a.png')" onerror="this.src='/b.png'" aria-src="/c.png">`, ""},
		{`<template><img data-src=a.png></template><!-- <img data-src=a.png> -->`, ""},
	} {
		if got := found(parse(c.html)); got != c.want {
			t.Errorf("%s: %s, want %s", c.html, got, c.want)
		}
	}
}

// TestScripts: images that scripts name are speculative links.
func TestScripts(t *testing.T) {
	const via = "http://a.test/dir/page.html"
	for _, c := range []struct{ script, page, file string }{
		{`var a = "/a.png", b = '//b.test/b.JPEG?x=1', c = ` + "`https://b.test/c.webp`", "X /a.png, X http://b.test/b.JPEG?x=1, X https://b.test/c.webp", "X /a.png, X http://b.test/b.JPEG?x=1, X https://b.test/c.webp"},
		{`new Image().src = "a.png"; x = {"src":"img/b.png"}; y = {src:"./c.png"}; z = "d.png"; i = "img/e.png"; m = "./f.png"; alt = "g.png"`, "X /dir/a.png, X /dir/img/b.png, X /dir/c.png", "X /dir/a.png, X /dir/img/b.png, X /dir/c.png"},
		{`{"image":"https:\/\/b.test\/a.png?x=1\u0026y=2","b":"\u002Fb.png"}`, "X https://b.test/a.png?x=1&y=2, X /b.png", "X https://b.test/a.png?x=1&y=2, X /b.png"},
		{`document.write("<img src=\"/a.png\"><b style='background:url(/b.png)'>")`, "X /a.png, X /b.png", "X /a.png, X /b.png"},
		{`a = "/img/" + name + "/b.png"; c = base + "/c.png"; d = "/d.png" + x; e = "/icons/` + "${name}" + `.png"; f = ".png"; g = "-2x.png"`, "", ""},
		{`a = base + (x ? "/a.png" : '/b.png'); c = {"c":"/c.png"}; d = y?"/d.png":z; e = "/__NAME__/e.png"`, "X /c.png", "X /c.png"},
		{`a = "/a.pngx"; b = "/b.pn"; c = a.png; d = "d.png e"; e = "/e.js"; f = "x/.png" // "/g.png`, "", ""},
		{`a = "/a.png'; b = "data:image/png;base64,/a.png"`, "", ""},
		{"", "", ""}, {".", "", ""}, {".png", "", ""}, {`".png"`, "", ""}, {`"/a.png`, "", ""}, {`"/a.png\`, "", ""}, {`"/a.png?`, "", ""},
	} {
		if got := found(parse("<script>" + c.script + "</script>")); got != c.page {
			t.Errorf("%s in a page: %s, want %s", c.script, got, c.page)
		}
		if got := found(Parse(Input{URL: "http://a.test/js/s.js", MIME: "text/javascript", Via: via, Body: []byte(c.script)}, DefaultLimits())); got != c.file {
			t.Errorf("%s in a file: %s, want %s", c.script, got, c.file)
		}
	}
	for html, want := range map[string]string{
		`<script type=module>"/a.png"</script><script type="application/json">"/b.png"</script><script type="text/javascript">"/c.png"</script>`: "X /a.png, X /b.png, X /c.png",
		`<script type="application/ld+json">"/a.png"</script><script type="text/template">"/b.png"</script>`:                                     "",
		`<script>"/a.png"</script><img src=/a.png>`: "E /a.png", `<img src=/a.png><script>"/a.png"</script>`: "E /a.png",
		strings.Repeat("<div>", 600) + `<script>"/a.png"</script>`: "X /a.png",
	} {
		if got := found(parse(html)); got != want {
			t.Errorf("%.100s: %s, want %s", html, got, want)
		}
	}
	for mime, want := range map[string]string{"application/javascript; charset=utf-8": "X /a.png", "application/x-javascript": "X /a.png", "": "X /a.png", "text/plain": "X /a.png", "application/json": "", "image/javascript": ""} {
		if got := found(Parse(Input{URL: "http://a.test/s.js?v=1", MIME: mime, Body: []byte(`x="/a.png"`)}, DefaultLimits())); got != want {
			t.Errorf("%s: %s, want %s", mime, got, want)
		}
	}
}

// TestSpeculativeBound: no page has many links that are only probable.
func TestSpeculativeBound(t *testing.T) {
	var script, elements strings.Builder
	for i := range 3 * maxSpeculative {
		fmt.Fprintf(&script, "'/%d.png',", i)
		fmt.Fprintf(&elements, "<p data-image=/%d.png>", i)
	}
	for _, html := range []string{"<script>" + script.String() + "</script>", elements.String(), "<script>" + script.String() + "</script>" + elements.String()} {
		if d := parse(html); len(d.Links) != maxSpeculative {
			t.Errorf("%.20s: %d links", html, len(d.Links))
		}
	}
	if d := parse("<script>" + strings.Repeat(" ", maxScripts) + "'/a.png'</script><script>'/b.png'</script>"); len(d.Links) > 0 {
		t.Errorf("a script behind %d bytes of others: %s", maxScripts, found(d))
	}
}

func TestManifest(t *testing.T) {
	const manifest = `{"name":"Ravens","start_url":"/no","icons":[{"src":"a.png","sizes":"48x48"},{"src":"/b.png"},{"sizes":"any"}],"shortcuts":[{"url":"/no","icons":[{"src":"c.png"}]}],"screenshots":[{"src":"no.png"}]}`
	const icons = "E /dir/c.png, E /dir/a.png, E /b.png"
	for _, c := range []struct{ url, mime, body, want string }{
		{"m", "application/manifest+json", manifest, icons}, {"m.webmanifest", "", manifest, icons}, {"m.webmanifest?v=1", "text/plain", manifest, icons},
		{"manifest.json?v=1", "application/json", manifest, icons}, {"other.json", "application/json", manifest, ""},
		{"m.webmanifest", "", `{"icons":"none"}`, ""}, {"m.webmanifest", "", `[]`, ""}, {"m.webmanifest", "", `{`, ""}, {"m.webmanifest", "", ``, ""},
		{"m.webmanifest", "", manifest + strings.Repeat(" ", maxManifest), ""},
	} {
		if got := found(Parse(Input{URL: "http://a.test/dir/" + c.url, MIME: c.mime, Body: []byte(c.body)}, DefaultLimits())); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.url, c.mime, got, c.want)
		}
	}
}

// BenchmarkScript searches a script that is much like those of the web for images.
func BenchmarkScript(b *testing.B) {
	text := []byte(strings.Repeat(`function(e,t,n){"use strict";var r=n(12),i=e.exports=t.default||{};r.forEach(function(o){i[o.name]=o.value.replace(/x/g,"a.b")+"/img/"+o.src+".png"})},`, 400))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bl := newBuilder(&Document{}, "http://a.test/", DefaultLimits())
		bl.script(text, func(string) { b.Fatal("a link") })
	}
}

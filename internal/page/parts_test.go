package page

import (
	"strings"
	"testing"
)

// TestParts: what a page is shown with is found, in markup of every kind.
func TestParts(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"svg image, use, feImage, script", `<svg><image href=a.png /><image xlink:href=b.png /><use href="c.svg#i"/><use xlink:href="#local"/><filter><feImage href=d.png /></filter><script href=e.js /></svg>`,
			"E /dir/a.png, E /dir/b.png, E /dir/c.svg, E /dir/d.png, E /dir/e.js"},
		{"svg style", `<svg><style>a{fill:url(a.svg#p)}</style><g style="mask:url(b.svg#m)"/><path fill="url(c.svg#g) red" filter=" URL('d.svg#f')" d="M0 0" stroke="url(#s)"/></svg>`,
			"E /dir/a.svg, E /dir/b.svg, E /dir/c.svg, E /dir/d.svg"},
		{"svg anchor", `<p>t <svg><a href=x><text>raven</text></a><a xlink:href=y></a></svg>`, "L /dir/x, L /dir/y"},
		{"page in svg", `<svg><foreignObject><p>text<img src=a.png></foreignObject></svg>`, "E /dir/a.png"},
		{"image outside svg", `<image src=a.png>`, "E /dir/a.png"},
		{"object's fallback", `<object data=a.swf><param name=movie value=b.swf><param name=bgcolor value=fff><embed src=c.swf><img src=d.png></object>`, "E /dir/a.swf, E /dir/b.swf, E /dir/c.swf, E /dir/d.png"},
		{"preload", `<link rel=preload as=image href=a.png imagesrcset="b.png 1x, c.png 2x" imagesizes=50vw><link rel=preload as=image imagesrcset="d.png 1x">`, "E /dir/a.png, E /dir/b.png, E /dir/c.png, E /dir/d.png"},
		{"prefetch", `<link rel=prefetch href=a.html><link rel=prefetch href=b.css><link rel=prefetch as=image href=c><link rel=prefetch as=document href=d.png>`, "L /dir/a.html, E /dir/b.css, E /dir/c, L /dir/d.png"},
		{"icons", `<link rel="apple-touch-icon-precomposed" href=a.png><link rel="apple-touch-startup-image" href=b.png><link rel=mask-icon href=c.svg>`, "E /dir/a.png, E /dir/b.png, E /dir/c.svg"},
		{"alternate style sheet", `<link rel="alternate stylesheet" href=a.css title=dark>`, "E /dir/a.css"},
		{"backgrounds", `<table background=a.png><thead background=b.png><tr background=c.png><th background=d.png><td background=e.png></table>`, "E /dir/a.png, E /dir/b.png, E /dir/c.png, E /dir/d.png, E /dir/e.png"},
		{"srcdoc", `<iframe srcdoc="<p style='background:url(a.png)'>x<img src=b.png><a href=c>d</a>"></iframe>`, "E /dir/a.png, E /dir/b.png, L /dir/c"},
		{"srcdoc with a base of its own", `<iframe srcdoc="<base href=/b/><img src=a.png>"></iframe><img src=a.png>`, "E /b/a.png, E /dir/a.png"},
		{"srcdoc in a page with a base", `<base href=/b/><iframe srcdoc="<img src=a.png>"></iframe>`, "E /b/a.png"},
		{"srcdoc that says things of itself", `<iframe srcdoc="<title>no</title><meta name=description content=no><meta http-equiv=refresh content='0;url=no'><link rel=canonical href=no>"></iframe>`, "L /dir/no"},
		{"nested srcdoc", srcdocs(maxSrcdoc, "a.png"), "E /dir/a.png"},
		{"srcdoc nested too deep", srcdocs(maxSrcdoc+1, "a.png"), ""},
		{"shadow tree", `<div><template shadowrootmode=open><style>a{background:url(a.png)}</style><img src=b.png></template></div><template><img src=no.png></template>`, "E /dir/a.png, E /dir/b.png"},
		{"template in a page without a tree", strings.Repeat("<div>", 600) + `<template><img src=no.png><style>a{background:url(no.png)}</style></template><img src=a.png>`, "E /dir/a.png"},
		{"data URLs", `<link rel=stylesheet href="data:text/css,a{background:url(http://a.test/a.png),url(no.png)}"><link rel=stylesheet href="data:text/css;base64,YXtiOnVybChodHRwOi8vYS50ZXN0L2IucG5nKX0="><iframe src="DATA:text/html,<img src=http://a.test/c.png><img src=no.png>"></iframe><link rel=stylesheet href="data:text/css;base64,*"><link rel=stylesheet href="data:text/css">`,
			"E /a.png, E /b.png, E /c.png"},
		{"comment", `<!-- <svg><image href=no.png /></svg> -->`, ""},
		{"xml-stylesheet of XHTML", `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="a.css"?><!DOCTYPE html><html><img src=b.png>`, "E /dir/a.css, E /dir/b.png"},
	} {
		d := parse(c.html)
		if got := found(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if text := strings.Join(d.Blocks, " "); strings.Contains(text, "raven") || d.Title != "" || d.Description != "" || d.Canonical != "" {
			t.Errorf("%s: text %q, title %q, description %q, canonical %q", c.name, text, d.Title, d.Description, d.Canonical)
		}
	}
	if d := parse(`<p>One <svg><text>no</text><foreignObject><p>no</p></foreignObject></svg> two <object><p>no</object> three`); strings.Join(d.Blocks, "/") != "One two three" {
		t.Errorf("text around drawings: %q", d.Blocks)
	}
	if d := parse(`<p>a</p><div><template shadowrootmode=open><p>shown</template></div>`); strings.Join(d.Blocks, "/") != "a/shown" {
		t.Errorf("text of a shadow tree: %q", d.Blocks)
	}
}

// srcdocs are frames in frames, the innermost with an image.
func srcdocs(deep int, image string) string {
	text := "<img src=" + image + ">"
	for range deep {
		text = `<iframe srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(text) + `"></iframe>`
	}
	return text
}

// TestMarkupOfSrcdoc: the documents in a page's frames have no more markup together than the page may have.
func TestMarkupOfSrcdoc(t *testing.T) {
	l := DefaultLimits()
	l.Markup = 200
	frame := `<iframe srcdoc="` + strings.Repeat("<b>", 20) + `<img src=%.png>"></iframe>`
	page := ""
	for _, name := range strings.Split("abcdefghijkl", "") {
		page += strings.ReplaceAll(frame, "%", name)
	}
	d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(page)}, l)
	if !d.Cut || len(d.Links) == 0 || len(d.Links) == 12 {
		t.Errorf("cut: %v, links %s", d.Cut, found(d))
	}
}

func TestDrawings(t *testing.T) {
	const drawing = `<?xml version="1.0"?><!-- x --><?xml-stylesheet href="s.css" type="text/css"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg"><title>no</title><image href="i.png"/><a href="x"><text>no</text></a></svg>`
	const links = "E /dir/s.css, E /dir/i.png, L /dir/x"
	for _, c := range []struct{ mime, body, want string }{
		{"image/svg+xml", drawing, links}, {"application/xml", drawing, links}, {"text/xml; charset=utf-8", drawing, links}, {"", drawing, links},
		{"", `<svg><image href="i.png"/></svg>`, "E /dir/i.png"},
		{"image/svg+xml", strings.Repeat("<g>", 600) + `<image href="i.png"/>`, "E /dir/i.png"},
		{"image/svg+xml", "", ""}, {"image/svg+xml", "<?xml-stylesheet href='s.css'", ""}, {"image/svg+xml", "<?xml-stylesheet href=s.css href ?><svg>", ""},
		{"application/xml", "<note><svg><image href='i.png'/></svg></note>", ""}, {"image/png", drawing, ""},
		{"application/rss+xml", "<?xml-stylesheet type='text/xsl' href='/feed.xsl?a=1&amp;b=2'?><rss/>", "E /feed.xsl?a=1&b=2"},
	} {
		d := Parse(Input{URL: "http://a.test/dir/d.svg", MIME: c.mime, Body: []byte(c.body)}, DefaultLimits())
		if got := found(d); got != c.want || len(d.Blocks) > 0 || d.Title != "" || d.Root != nil {
			t.Errorf("%s, %.40q: %s, want %s; text %q, title %q", c.mime, c.body, got, c.want, d.Blocks, d.Title)
		}
	}
}

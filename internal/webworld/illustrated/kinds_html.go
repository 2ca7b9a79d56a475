package illustrated

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// htmlKinds are elements and attributes of HTML.
var htmlKinds = []kind{
	{"img", func(p *pen) { p.say(`<img src="%s" alt=""/> <img src="%s"/>`, p.image(), p.image()) }, false},
	{"img-blank", func(p *pen) { named(p, "a blank and (brackets)") }, false},
	{"img-letters", func(p *pen) {
		if p.form.code == nil {
			named(p, "Übersicht")
		} else {
			named(p, "Ubersicht")
		}
	}, false},
	{"img-query", func(p *pen) {
		path := p.name(".png") + "?width=1&height=2"
		p.put(p.host, path, "image/png", png(path))
		p.say(`<img src="%s"/>`, text(p.reference(p.base, p.host, path)))
	}, false},
	{"img-query-escaped", func(p *pen) {
		path := p.name(".png") + "?q=" + p.query(p.form.word)
		p.put(p.base, path, "image/png", png(path))
		p.say(`<img src="%s"/>`, text(path))
	}, false},
	{"img-lazy", func(p *pen) { p.say(`<img loading="lazy" src="%s" width="40" height="20"/>`, p.image()) }, false},
	{"img-crossorigin", func(p *pen) { p.say(`<img crossorigin="anonymous" src="%s"/>`, p.image()) }, false},
	{"img-map", func(p *pen) {
		p.say(`<img usemap="#m%d" src="%s"/><map name="m%d"><area shape="rect" coords="0,0,9,9" href="/"/></map>`, p.n, p.image(), p.n)
	}, false},
	{"srcset-density", func(p *pen) { p.say(`<img srcset="%s, %s 2x" src="%s"/>`, p.image(), p.image(), p.image()) }, false},
	{"srcset-width", func(p *pen) {
		p.say(`<img srcset="%s 100w, %s 400w,
 %s 5000w" sizes="(max-width: 600px) 100vw, 300px" src="%s"/>`, p.image(), p.image(), p.image(), p.image())
	}, false},
	{"picture-media", func(p *pen) {
		p.say(`<picture><source media="(min-width: 900px)" srcset="%s"/><source srcset="%s 1x, %s 2x"/><img src="%s"/></picture>`, p.image(), p.image(), p.image(), p.image())
	}, false},
	{"picture-type", func(p *pen) {
		p.say(`<picture><source type="image/unheard-of" srcset="%s"/><source type="image/png" srcset="%s"/><img src="%s"/></picture>`, p.image(), p.image(), p.image())
	}, false},
	{"input-image", func(p *pen) { p.say(`<form action="/"><input type="image" src="%s"/></form>`, p.image()) }, false},
	{"table-background", func(p *pen) {
		p.say(`<table background="%s"><tr><td background="%s">a raven in a cell</td><th>and one beside it</th></tr></table>`, p.image(), p.image())
	}, false},
	{"object-fallback", func(p *pen) { p.say(`<object type="application/x-unheard-of"><img src="%s"/></object>`, p.image()) }, false},
	{"video-poster", func(p *pen) { p.say(`<video preload="none" poster="%s" width="60" height="40"></video>`, p.image()) }, false},
	{"video-src", func(p *pen) {
		p.say(`<video muted="" preload="auto" width="60" height="40" poster="%s"><source src="%s" type="video/mp4"/><track default="" kind="subtitles" srclang="en" src="%s"/></video>`,
			p.image(), p.near(".mp4", "video/mp4", noise), p.near(".vtt", "text/vtt", func(string) []byte { return []byte("WEBVTT\n\n00:00.000 --> 00:09.000\nA raven\n") }))
	}, false},
	{"audio", func(p *pen) {
		p.say(`<audio preload="auto" controls="" src="%s"></audio>`, p.near(".wav", "audio/wav", sound))
	}, false},
	{"preload-image", func(p *pen) {
		reference := p.image()
		p.top(`<link rel="preload" as="image" href="%s"/>`+"\n", reference)
		p.say(`<img src="%s"/>`, reference)
	}, false},
	{"preload-srcset", func(p *pen) {
		small, large := p.image(), p.image()
		p.top(`<link rel="preload" as="image" imagesrcset="%s 1x, %s 2x"/>`+"\n", small, large)
		p.say(`<img srcset="%s 1x, %s 2x"/>`, small, large)
	}, false},
	{"icon", func(p *pen) { p.top(`<link rel="shortcut icon" href="%s"/>`+"\n", p.image()) }, false},
	{"shadow-root", func(p *pen) {
		p.say(`<div class="box"><template shadowrootmode="open"><style>i { background: url(%s); display: block; height: 20px }</style><i>a shadow</i><img src="%s"/></template></div>`, p.image(), p.image())
	}, true},
}

// named shows an image whose name has letters that are escaped in URLs.
func named(p *pen, name string) {
	path := p.name("-")
	p.put(p.base, path+url.PathEscape(name)+".png", "image/png", png(path))
	p.say(`<img src="%s"/>`, text(path+name+".png"))
}

// frameKinds are documents in documents.
var frameKinds = []kind{
	{"iframe", func(p *pen) {
		p.say(`<iframe width="200" height="60" src="%s"></iframe>`, p.document(p.other(), "a raven in a frame"))
	}, false},
	{"iframe-nested", func(p *pen) {
		inner := &pen{world: p.world, n: p.n, kind: p.kind, made: 10, base: p.host, host: p.host}
		path := p.name(".html")
		p.put(p.host, path, "text/html; charset=utf-8", fmt.Appendf(nil, `<!DOCTYPE html><html><head><title>Outer</title></head><body>outer %d<iframe height="50" src="%s"></iframe></body></html>`,
			p.n, inner.document(inner.other(), "the inner raven")))
		p.say(`<iframe width="250" height="90" src="%s"></iframe>`, text(p.reference(p.base, p.host, path)))
	}, false},
}

// otherKinds are redirects, errors and copies.
var otherKinds = []kind{
	{"redirect-image", func(p *pen) { p.say(`<img src="%s"/>`, redirected(p, http.StatusFound, ".png", "image/png", png)) }, false},
	{"redirect-chain", func(p *pen) {
		last, path := redirected(p, http.StatusMovedPermanently, ".gif", "image/gif", gif), p.name(".gif")
		p.redirect(p.host, path, http.StatusTemporaryRedirect, bare(last))
		p.say(`<img src="%s"/>`, text(p.reference(p.base, p.host, path)))
	}, false},
	{"redirect-sheet", func(p *pen) {
		p.top(`<link rel="stylesheet" href="%s"/>`+"\n", redirected(p, http.StatusFound, ".css", "text/css", func(name string) []byte {
			return []byte(p.box("redirected") + "{ background: " + colour(name) + " }")
		}))
	}, false},
	{"redirect-script", func(p *pen) {
		p.say(`<script src="%s"></script><p id="redirected">no script</p>`, redirected(p, http.StatusSeeOther, ".js", "text/javascript", func(string) []byte {
			return []byte(`addEventListener("load", function () { document.getElementById("redirected").textContent = "a script" })`)
		}))
	}, false},
	{"redirect-frame", func(p *pen) {
		path := p.name(".html")
		p.redirect(p.host, path, http.StatusFound, bare(p.document(p.host, "a raven behind a redirect")))
		p.say(`<iframe width="200" height="60" src="%s"></iframe>`, text(p.reference(p.base, p.host, path)))
	}, false},
	{"same-body", func(p *pen) { // one image by several names
		body := png(fmt.Sprintf("same %d", p.n/20))
		for range 3 {
			p.say(`<img src="%s"/>`, p.far(".png", "image/png", func(*webworld.Host, string) []byte { return body }))
		}
	}, false},
	{"gone", func(p *pen) {
		path := p.name(".png")
		p.put(p.host, path, "text/html", []byte("<html><body>gone</body></html>")).Status = http.StatusGone
		p.truth[len(p.truth)-1].Status = http.StatusGone
		p.say(`<img src="%s" alt="gone"/>`, text(p.reference(p.base, p.host, path)))
	}, false},
}

// redirected adds something to a host, and a redirect to it to another.
func redirected(p *pen, status int, extension, mime string, body func(name string) []byte) string {
	target := p.name(extension)
	to := p.other()
	p.put(to, target, mime, body(to.Host+target))
	from, path := p.other(), p.name(extension)
	p.redirect(from, path, status, p.reference(from, to, target))
	return text(p.reference(p.base, from, path))
}

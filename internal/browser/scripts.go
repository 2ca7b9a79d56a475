package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/chromedp/chromedp"
)

// scriptBefore runs before the scripts of a page: it takes away what would talk to others without a request that can be intercepted, and what would outlive the page.
const scriptBefore = `(() => {
	const none = () => undefined;
	for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocketStream", "SharedWorker"]) {
		try { delete globalThis[name]; Object.defineProperty(globalThis, name, {value: undefined, writable: true, configurable: true}); } catch {}
	}
	try { navigator.serviceWorker.register = () => Promise.reject(new DOMException("not here", "SecurityError")); } catch {}
	try { globalThis.open = () => null; } catch {}
	try { globalThis.print = none; } catch {}
	try { navigator.sendBeacon = () => true; } catch {}
})()`

// scriptDocument returns the document as it stands, with its open shadow trees as templates (HTML §4.12.3), and without what is for browsers that run no scripts.
var scriptDocument = fmt.Sprintf(`(() => {
	const roots = [];
	const walk = (n) => {
		for (const e of n.querySelectorAll("*")) {
			if (e.localName === "noscript") e.remove();
			else if (e.shadowRoot) { roots.push(e.shadowRoot); walk(e.shadowRoot); }
		}
	};
	walk(document);
	const top = document.documentElement;
	let tag = "<" + top.localName;
	for (const a of top.attributes) tag += " " + a.name + '="' + a.value.replace(/&/g, "&amp;").replace(/"/g, "&quot;") + '"';
	const inner = top.getHTML ? top.getHTML({shadowRoots: roots}) : top.innerHTML;
	return ("<!DOCTYPE html>" + tag + ">" + inner + "</" + top.localName + ">").slice(0, %d);
})()`, maxDocument)

// scriptBody returns the body as it stands.
var scriptBody = fmt.Sprintf(`(() => {
	const roots = [];
	const walk = (n) => {
		for (const e of n.querySelectorAll("*")) if (e.shadowRoot) { roots.push(e.shadowRoot); walk(e.shadowRoot); }
	};
	walk(document);
	const top = document.body;
	return (top.getHTML ? top.getHTML({shadowRoots: roots}) : top.innerHTML).slice(0, %d);
})()`, maxDocument/8)

// scriptScroll scrolls the page, and each part that scrolls by itself, to its end. It returns how large all of it is; 0 if there is nothing to scroll.
const scriptScroll = `(() => {
	let size = 0, parts = 0;
	const all = [document.scrollingElement || document.documentElement];
	let looked = 0;
	for (const e of document.querySelectorAll("div,main,section,ul,ol,article,aside")) {
		if (++looked > 3000) break;
		if (e.scrollHeight > e.clientHeight + 20 && e.clientHeight > 100 && /auto|scroll/.test(getComputedStyle(e).overflowY)) all.push(e);
	}
	for (const e of all) {
		if (e.scrollHeight <= e.clientHeight + 1) continue;
		parts++;
		size += e.scrollHeight;
		e.scrollTop = e.scrollHeight;
	}
	return parts ? size + document.getElementsByTagName("*").length : 0;
})()`

// scriptTop scrolls back to the top, and returns the height of the page.
const scriptTop = `(() => { scrollTo(0, 0); return Math.max(document.documentElement.scrollHeight, 1); })()`

// scriptRoutes returns the fragments of links to other views of the page.
const scriptRoutes = `(() => {
	const found = new Set(), here = location.href.split("#")[0];
	const walk = (n) => {
		for (const e of n.querySelectorAll("*")) {
			if (e.localName === "a" && e.hash && /^#!?\//.test(e.hash) && e.href.split("#")[0] === here) found.add(e.hash);
			if (e.shadowRoot) walk(e.shadowRoot);
		}
	};
	walk(document);
	return [...found].slice(0, 500);
})()`

// routes shows the views behind hash routes, one after the other, and returns their bodies.
func (t *tab) routes() (views []string, err error) {
	here, err := chromedp.Run(t.ctx, chromedp.Evaluate[string](`location.hash`))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{here: true, "": true}
	if here == "" { // what such pages show first
		known["#/"], known["#!/"] = true, true
	}
	var waiting []string
	for {
		found, err := chromedp.Run(t.ctx, chromedp.Evaluate[[]string](scriptRoutes))
		if err != nil {
			return views, err
		}
		for _, f := range found {
			if !known[f] {
				known[f] = true
				waiting = append(waiting, f)
			}
		}
		if len(waiting) == 0 || len(views) >= t.limits.Routes || t.shown.Cut {
			return views, nil
		}
		next := waiting[0]
		waiting = waiting[1:]
		t.touch()
		if _, err := chromedp.Run(t.ctx, chromedp.Evaluate[chromedp.Void]("location.hash = "+quoted(next))); err != nil {
			return views, err
		}
		if err := t.rest(); err != nil {
			return views, err
		}
		body, err := chromedp.Run(t.ctx, chromedp.Evaluate[string](scriptBody))
		if err != nil {
			return views, err
		}
		t.shown.Routes = append(t.shown.Routes, next)
		views = append(views, body)
	}
}

// withViews is a document with the bodies of views as sections at the end of its body.
func (t *tab) withViews(document string, views []string) []byte {
	end := strings.LastIndex(document, "</body>")
	if end < 0 {
		end = len(document)
	}
	var b strings.Builder
	b.WriteString(document[:end])
	for i, view := range views {
		if b.Len()+len(view) > maxDocument {
			break
		}
		b.WriteString("\n<section data-muninn-view=\"" + html.EscapeString(t.shown.Routes[i]) + "\">" + view + "</section>")
	}
	b.WriteString(document[end:])
	return []byte(b.String())
}

// quoted is a text as a literal of JavaScript.
func quoted(text string) string {
	raw, err := json.Marshal(text) // a string has no error
	if err != nil {
		return `""`
	}
	return string(raw)
}

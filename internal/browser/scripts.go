package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// scriptBefore runs before the scripts of a page, in their world: it takes away what would talk to others without a request that can be intercepted, and what would outlive the
// page. A page may get some of it back; the network namespace and the flags of the browser are what it cannot change.
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

// prelude has what the scripts below read a document by. Elements with a name hide properties of documents and forms (HTML §3.1.7), so these are taken from where they are defined.
const prelude = `
	const property = (of, name) => { const read = Object.getOwnPropertyDescriptor(of.prototype, name).get; return (n) => read.call(n); };
	const localName = property(Element, "localName"), shadowRoot = property(Element, "shadowRoot"), attributes = property(Element, "attributes");
	const top = property(Document, "documentElement")(document), body = property(Document, "body")(document);
	const all = (n, what) => (n instanceof Element ? Element : n instanceof Document ? Document : DocumentFragment).prototype.querySelectorAll.call(n, what);
	const inner = (n, roots) => Element.prototype.getHTML ? Element.prototype.getHTML.call(n, {shadowRoots: roots}) : property(Element, "innerHTML")(n);
	const each = (n, visit) => { for (const e of all(n, "*")) { const root = shadowRoot(e); visit(e, root); if (root) each(root, visit); } };
`

// scriptKeep keeps a text of the page for scriptPiece, and returns how long it is before it is cut; %s computes it, %d is how much of it is kept.
const scriptKeep = `(() => {` + prelude + `
	const text = %s;
	globalThis.kept = text.length > %d ? text.slice(0, %[2]d) : text;
	return text.length;
})()`

// scriptPiece returns a part of what is kept, from %d on and some %d characters long, and where the next begins: no character is cut into two.
const scriptPiece = `(() => {
	const text = globalThis.kept, at = %d;
	let end = Math.min(at + %d, text.length);
	if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
	if (end === text.length) globalThis.kept = "";
	return {text: text.slice(at, end), end};
})()`

// textDocument is the document as it stands, with its open shadow trees as templates (HTML §4.12.3), and without what is for browsers that run no scripts.
const textDocument = `(() => {
	const roots = [], gone = [];
	each(document, (e, root) => { if (root) roots.push(root); if (localName(e) === "noscript") gone.push(e); });
	for (const e of gone) Element.prototype.remove.call(e);
	let tag = "<" + localName(top);
	for (const a of attributes(top)) tag += " " + a.name + '="' + a.value.replace(/&/g, "&amp;").replace(/"/g, "&quot;") + '"';
	return "<!DOCTYPE html>" + tag + ">" + inner(top, roots) + "</" + localName(top) + ">";
})()`

// textBody is the body as it stands.
const textBody = `(() => {
	const roots = [];
	each(document, (e, root) => { if (root) roots.push(root); });
	return body ? inner(body, roots) : "";
})()`

// scriptIdle waits for a time by the clock of the page, and until it has nothing to do: timers that the page set before have run then. It reports whether the page has loaded.
const scriptIdle = `new Promise((done) => setTimeout(() => requestIdleCallback(
	() => done(Object.getOwnPropertyDescriptor(Document.prototype, "readyState").get.call(document) === "complete"), {timeout: 1000}), %d))`

// scriptScroll scrolls the page, and each part that scrolls by itself, to its end. It returns how large all of it is; 0 if there is nothing to scroll.
const scriptScroll = `(() => {` + prelude + `
	let size = 0, parts = 0, looked = 0;
	const high = property(Element, "scrollHeight"), seen = property(Element, "clientHeight"), to = Object.getOwnPropertyDescriptor(Element.prototype, "scrollTop").set;
	const wanted = [property(Document, "scrollingElement")(document) || top];
	for (const e of all(document, "div,main,section,ul,ol,article,aside")) {
		if (++looked > 3000) break;
		if (high(e) > seen(e) + 20 && seen(e) > 100 && /auto|scroll/.test(getComputedStyle(e).overflowY)) wanted.push(e);
	}
	for (const e of wanted) {
		if (high(e) <= seen(e) + 1) continue;
		parts++;
		size += high(e);
		to.call(e, high(e));
	}
	return parts ? size + all(document, "*").length : 0;
})()`

// scriptTop scrolls back to the top, and returns the height of the page.
const scriptTop = `(() => {` + prelude + ` scrollTo(0, 0); return Math.max(property(Element, "scrollHeight")(top), 1); })()`

// scriptRoutes returns the fragments of links to other views of the page.
var scriptRoutes = fmt.Sprintf(`(() => {`+prelude+`
	const found = new Set(), here = location.href.split("#")[0];
	each(document, (e) => {
		if (found.size < 500 && localName(e) === "a" && e.hash && e.hash.length <= %d && /^#!?\//.test(e.hash) && e.href.split("#")[0] === here) found.add(e.hash);
	});
	return [...found];
})()`, maxFragment)

// Reasons of Shown, as WARC-Truncated has them (WARC/1.1 §5.13).
const (
	truncatedLength = "length"
	truncatedTime   = "time"
)

// text reads a text of the page, of at most so many characters, in pieces: a message of the browser is not longer than a piece makes it. What is cut off is noted.
func (t *tab) text(script string, most int) (string, error) {
	size, err := evaluate[int](t.ctx, t, fmt.Sprintf(scriptKeep, script, most))
	if err != nil {
		return "", err
	}
	if size > most {
		t.shown.DocumentTruncated = truncatedLength
	}
	var b strings.Builder
	for at := 0; at < min(size, most); {
		piece, err := evaluate[struct {
			Text string
			End  int
		}](t.ctx, t, fmt.Sprintf(scriptPiece, at, maxPiece))
		if err != nil {
			return "", err
		}
		if piece.End <= at { // the page was replaced
			break
		}
		b.WriteString(piece.Text)
		at = piece.End
	}
	return b.String(), nil
}

// read reads the document, takes the picture, and shows the views behind hash routes, whose bodies come at the end of the document.
func (t *tab) read() error {
	document, err := t.text(textDocument, maxDocument)
	if err != nil {
		return err
	}
	t.shown.Document = []byte(document) // if there is no more to come
	t.picture()
	views, err := t.routes(maxDocument - len(document))
	if len(views) > 0 {
		t.shown.Document = t.withViews(document, views)
	}
	return err
}

// routes shows the views behind hash routes, one after the other, and returns their bodies, of at most so many bytes together.
func (t *tab) routes(room int) (views []string, err error) {
	here, err := evaluate[string](t.ctx, t, fmt.Sprintf(`location.hash.slice(0, %d)`, maxFragment))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{here: true, "": true}
	if here == "" { // what such pages show first
		known["#/"], known["#!/"] = true, true
	}
	var waiting []string
	for {
		found, err := evaluate[[]string](t.ctx, t, scriptRoutes)
		if err != nil {
			return views, err
		}
		for _, f := range found {
			if !known[f] && len(known) < maxQueries {
				known[f] = true
				waiting = append(waiting, f)
			}
		}
		if len(waiting) > 0 && room <= 0 {
			t.shown.DocumentTruncated = truncatedLength
		}
		if len(waiting) == 0 || len(views) >= t.limits.Routes || t.shown.Cut || room <= 0 {
			return views, nil
		}
		next := waiting[0]
		waiting = waiting[1:]
		t.touch()
		if _, err := evaluate[json.RawMessage](t.ctx, t, "void (location.hash = "+quoted(next)+")"); err != nil {
			return views, err
		}
		if err := t.rest(); err != nil {
			return views, err
		}
		body, err := t.text(textBody, min(maxDocument/8, room))
		if err != nil {
			return views, err
		}
		room -= len(body)
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

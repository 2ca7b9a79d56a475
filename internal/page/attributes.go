package page

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// attributes takes the links in attributes that any element may have.
func (w *walker) attributes(n *html.Node) {
	if len(n.Attr) == 0 {
		return
	}
	media := isMedia(n)
	for i := range n.Attr {
		switch a := &n.Attr[i]; {
		case a.Key == "style":
			w.declarations(n, a.Val)
		case strings.HasPrefix(a.Key, "data-"), media && mayBeLazy(n, a.Key):
			w.lazy(n, a)
		}
	}
}

// maxSrcdoc is how deep documents in srcdoc attributes may be nested.
const maxSrcdoc = 3

// srcdoc takes the links of the document in the srcdoc attribute of a frame. Its base is that of the page, unless it has one of its own.
func (w *walker) srcdoc(text string) {
	if !strings.Contains(text, "<") || w.frames == maxSrcdoc {
		return
	}
	base, valid, based, lang := w.base, w.valid, w.based, w.lang
	w.frames, w.mute, w.based = w.frames+1, w.mute+1, false
	if root, _, _ := w.tree([]byte(text)); root != nil {
		w.walk(root)
	}
	if w.based {
		clear(w.resolved)
	}
	w.frames, w.mute = w.frames-1, w.mute-1
	w.base, w.valid, w.based, w.lang = base, valid, based, lang
}

// srcset takes the links of an attribute with several images.
func (w *walker) srcset(n *html.Node, name string) {
	for _, ref := range srcset(attr(n, name)) {
		w.link(n, name, ref, crawl.HopEmbed, "")
	}
}

func (w *walker) linkElement(n *html.Node, rel, href string) {
	if href == "" {
		return
	}
	if w.frames == 0 && slices.Contains(strings.Fields(rel), "icon") { // also "data:,", by which pages ask for none
		w.icon = true
	}
	hop, canonical := relation(rel, attr(n, "as"), href)
	if canonical && w.mute == 0 {
		w.canonical(href)
	}
	if text, is := dataURL(href, "text/css"); is && hop == crawl.HopEmbed {
		w.absolute++
		w.styleElement(n, text)
		w.absolute--
		return
	}
	if hop != 0 {
		w.link(n, "href", href, hop, rel)
	}
}

// dataURL is the text of a "data:" URL of a type (RFC 2397).
func dataURL(ref, kind string) (text string, is bool) {
	ref = strings.TrimSpace(ref)
	if begin := "data:" + kind; len(ref) < len(begin) || !strings.EqualFold(ref[:len(begin)], begin) {
		return "", false
	}
	head, data, is := strings.Cut(ref, ",")
	if text, err := url.PathUnescape(data); err == nil {
		data = text
	}
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		raw, err := base64.StdEncoding.DecodeString(data)
		return string(raw), err == nil
	}
	return data, is
}

// prefetched says what a page prefetches: another page, or a part of it.
func prefetched(as, href string) crawl.Hop {
	if e := extension(href); as == "" && !partExtensions[e] && !imageExtensions[e] || strings.EqualFold(as, "document") {
		return crawl.HopLink
	}
	return crawl.HopEmbed
}

func (w *walker) meta(n *html.Node) {
	if w.mute > 0 { // of a document in a frame
		return
	}
	content := attr(n, "content")
	w.named(attr(n, "name"), content)
	if strings.EqualFold(attr(n, "http-equiv"), "refresh") {
		w.link(n, "refresh", refresh(content), crawl.HopRedirect, "")
	}
	w.openGraph(n, content)
}

// refresh takes the URL out of "5; url=/next" (HTML §4.2.5.3): the word url is optional, and so are
// quotes.
func refresh(content string) string {
	_, ref, found := strings.Cut(content, ";")
	if !found {
		_, ref, _ = strings.Cut(content, ",")
	}
	ref = strings.TrimSpace(ref)
	if len(ref) >= 3 && strings.EqualFold(ref[:3], "url") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(ref[3:]), "="); ok {
			ref = strings.TrimSpace(rest)
		}
	}
	return strings.Trim(ref, `'"`)
}

// srcset yields the URLs of a srcset attribute (HTML §4.8.4.2.1).
func srcset(value string) []string {
	var refs []string
	for value != "" {
		value = strings.TrimLeft(value, " \t\r\n,")
		ref, rest := value, ""
		if at := strings.IndexAny(value, " \t\r\n\f"); at >= 0 {
			ref, rest = value[:at], value[at+1:]
		}
		if trimmed := strings.TrimRight(ref, ","); trimmed != ref { // no descriptor
			ref, value = trimmed, rest
		} else {
			_, value, _ = strings.Cut(rest, ",")
		}
		if ref != "" && !strings.HasPrefix(ref, "data:") {
			refs = append(refs, ref)
		}
	}
	return refs
}

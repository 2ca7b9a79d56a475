package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/css"
)

// Scripts load images late from attributes of their own, such as data-src. There are too many names of these to list them: an attribute is
// known by the form of its value, which is the URL of an image, or a srcset.

// maxLazy is the longest attribute that is looked at, in bytes.
const maxLazy = 16 << 10

// lazy takes the images that an attribute which no browser reads names. Those that a script will surely show belong to the page, others are
// speculative, such as the larger image behind a click.
func (w *walker) lazy(n *html.Node, a *html.Attribute) {
	value := strings.TrimSpace(a.Val)
	if len(value) < len("a.ico") || len(value) > maxLazy || value[0] == '{' || value[0] == '[' || value[0] == '#' || !strings.ContainsAny(value, "./") {
		return
	}
	named := hasWord(a.Key, lateWords)
	hop := crawl.HopSpeculative
	if named && n.DataAtom != atom.A {
		hop = crawl.HopEmbed
	}
	if hop == crawl.HopSpeculative && w.speculative >= maxSpeculative {
		return
	}
	if len(value) > 4 && strings.EqualFold(value[:4], "url(") {
		for r := range css.Declarations(value) {
			if plausible(r.URL) {
				w.link(n, a.Key, r.URL, hop, "")
			}
		}
		return
	}
	if refs := strictSrcset(value); refs != nil {
		for _, ref := range refs {
			w.link(n, a.Key, ref, hop, "")
		}
		return
	}
	switch image := imageExtensions[extension(value)]; {
	case !plausible(value):
	case image && (named || rooted(value) || strings.HasPrefix(a.Key, "data-") && strings.Contains(value, "/")), isMedia(n) && named && rooted(value):
		w.link(n, a.Key, value, hop, "")
	}
}

// lateWords are in the names of attributes from which images are loaded without a click.
var lateWords = []string{"src", "lazy", "original", "bg", "background", "poster"}

func hasWord(name string, words []string) bool {
	for _, word := range words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// mayBeLazy reports whether an attribute of a media element is none of HTML, so that a script may load an image from it.
func mayBeLazy(n *html.Node, key string) bool {
	return (!mediaAttributes[key] || n.DataAtom == 0 && strings.HasPrefix(key, "src")) && !strings.HasPrefix(key, "on") && !strings.HasPrefix(key, "aria-")
}

// isMedia reports whether an element shows an image, a film or a document. Elements with a hyphen are those of scripts, such as amp-img.
func isMedia(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Img, atom.Source, atom.Iframe, atom.Video, atom.Audio, atom.Embed, atom.Input, atom.Picture:
		return true
	case 0:
		return strings.HasSuffix(n.Data, "-img") || strings.HasSuffix(n.Data, "-image") || strings.HasSuffix(n.Data, "-picture")
	}
	return false
}

// mediaAttributes are attributes of such elements that are read otherwise, or hold no image to show.
var mediaAttributes = map[string]bool{
	"src": true, "srcset": true, "poster": true, "alt": true, "title": true, "id": true, "class": true, "style": true, "name": true, "value": true, "placeholder": true, "href": true, "srcdoc": true,
	"longdesc": true, "usemap": true, "sizes": true, "width": true, "height": true, "loading": true, "decoding": true, "type": true, "media": true,
	"itemid": true, "itemprop": true, "itemtype": true, "about": true, "resource": true, "property": true, "content": true, "rel": true, "label": true,
}

// rooted reports whether a reference begins as only a URL does.
func rooted(ref string) bool {
	for _, begin := range []string{"http://", "https://", "/", "./", "../"} {
		if strings.HasPrefix(ref, begin) {
			return true
		}
	}
	return false
}

// plausible reports whether a text has the form of a URL in which nothing is left to be filled in.
func plausible(ref string) bool {
	if ref == "" || strings.ContainsAny(ref, " \t\r\n<>{}|\\^`\"'[]()*") {
		return false
	}
	if _, name, is := strings.Cut(ref, "__"); is && name != "" && name[0] >= 'A' && name[0] <= 'Z' { // __NAME__
		return false
	}
	if scheme := strings.IndexByte(ref, ':'); scheme >= 0 && !strings.ContainsAny(ref[:scheme], "/?#") {
		return strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")
	}
	return true
}

// strictSrcset yields the URLs of a text that is a srcset beyond doubt: each candidate has a descriptor. nil if it is none.
func strictSrcset(value string) (refs []string) {
	for value != "" {
		value = strings.TrimLeft(value, " \t\r\n,")
		if value == "" {
			break
		}
		at := strings.IndexAny(value, " \t\r\n")
		if at < 0 {
			return nil
		}
		ref := value[:at]
		descriptor, rest, _ := strings.Cut(value[at:], ",")
		if !isDescriptor(strings.TrimSpace(descriptor)) || !plausible(ref) || !rooted(ref) && !imageExtensions[extension(ref)] {
			return nil
		}
		refs, value = append(refs, ref), rest
	}
	return refs
}

// isDescriptor reports whether a text is "2x", "1.5x", "640w", or "640w 480h".
func isDescriptor(text string) bool {
	if w, h, two := strings.Cut(text, " "); two {
		return strings.HasSuffix(w, "w") && strings.HasSuffix(h, "h") && isDescriptor(w)
	}
	number := strings.TrimRight(text, "wx")
	return len(text) == len(number)+1 && number != "" && strings.Trim(number, "0123456789.") == ""
}

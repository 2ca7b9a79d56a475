package page

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of feeds.
const (
	maxItemText  = 256 << 10 // bytes that are kept of the text of an element
	maxItemLinks = 100       // links that an item names outside of its text
	maxItemTexts = 10        // texts of an item
)

// feedReader reads RSS 0.9 to 2.0 and Atom, with the usual extensions (content, media, iTunes, Well-Formed Web, FeedBurner).
//
// It reads element by element, so that a feed that is cut off or damaged gives the items before that. mmcdole/gofeed v1.4.2, the library for
// it, gives nothing of such a file, and does not show the images and links of an item's text.
type feedReader struct {
	*builder
	path   []string // the names of the open elements, in lower case
	bases  []outerBase
	value  []byte
	markup int    // elements and attributes that items' texts have had
	mixed  int    // depth of an element whose content is XHTML, 0: none is open
	kind   string // type of the open element's text
	guid   bool   // the open guid is the item's address
	item   feedItem
}

// outerBase is the base of the elements around one with xml:base.
type outerBase struct {
	depth int
	base  urls.Resolver
}

// feedItem is an item of a feed, or the feed itself.
type feedItem struct {
	title string
	id    string // its address if it names no other
	links []crawl.Outlink
	texts []feedText
}

type feedText struct {
	text string
	html bool
}

func (r *feedReader) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	r.path = append(r.path, name)
	if r.mixed > 0 {
		r.markupTag(name, t.Attr)
		return
	}
	r.value = r.value[:0]
	r.rebase(t)
	r.kind = strings.ToLower(xmlAttr(t, "type"))
	switch name {
	case "item", "entry":
		r.flush()
	case "link":
		switch rel := strings.ToLower(xmlAttr(t, "rel")); rel {
		case "edit", "edit-media", "hub", "service.edit", "service.post", "service.feed": // of programs that write
		default:
			r.add(xmlAttr(t, "href"), crawl.HopLink, "feed/link", rel)
		}
	case "enclosure", "player":
		r.add(xmlAttr(t, "url"), crawl.HopLink, "feed/enclosure", "")
	case "content":
		r.add(xmlAttr(t, "src"), crawl.HopLink, "feed/content", "")
		hop := crawl.HopLink
		if strings.HasPrefix(r.kind, "image/") || xmlAttr(t, "medium") == "image" {
			hop = crawl.HopSpeculative
		}
		r.add(xmlAttr(t, "url"), hop, "feed/media", "")
	case "thumbnail":
		r.add(xmlAttr(t, "url"), crawl.HopSpeculative, "feed/media", "")
	case "image":
		r.add(xmlAttr(t, "href"), crawl.HopSpeculative, "feed/media", "")
	case "guid":
		r.guid = !strings.EqualFold(xmlAttr(t, "isPermaLink"), "false")
	}
	if r.kind == "xhtml" {
		r.mixed = len(r.path)
	}
}

// markupTag writes a tag of XHTML content as HTML has it.
func (r *feedReader) markupTag(name string, attributes []xml.Attr) {
	r.value = append(append(r.value, '<'), name...)
	for _, a := range attributes {
		if a.Name.Space == "" {
			r.value = append(r.value, " "+a.Name.Local+`="`+html.EscapeString(a.Value)+`"`...)
		}
	}
	r.value = append(r.value, '>')
	r.value = r.value[:min(len(r.value), maxItemText)]
}

func (r *feedReader) text(data []byte) {
	switch {
	case len(r.value) >= maxItemText:
	case r.mixed > 0:
		r.value = append(r.value, html.EscapeString(string(data))...)
	default:
		r.value = append(r.value, data[:min(len(data), maxItemText-len(r.value))]...)
	}
}

func (r *feedReader) end(xml.Name) {
	depth := len(r.path)
	if depth == 0 {
		return
	}
	name := r.path[depth-1]
	switch {
	case r.mixed > 0 && depth > r.mixed:
		if len(r.value) < maxItemText {
			r.value = append(r.value, "</"+name+">"...)
		}
		r.path = r.path[:depth-1]
		return
	case r.mixed == depth:
		r.mixed, r.kind = 0, "html"
	}
	r.element(name, string(bytes.TrimSpace(r.value)))
	if name == "item" || name == "entry" {
		r.flush()
	}
	r.path, r.value, r.kind = r.path[:depth-1], r.value[:0], ""
	if n := len(r.bases); n > 0 && r.bases[n-1].depth == depth {
		r.setResolver(r.bases[n-1].base)
		r.bases = r.bases[:n-1]
	}
}

// element takes the text of an element that ends.
func (r *feedReader) element(name, text string) {
	if text == "" {
		return
	}
	within := ""
	if len(r.path) > 1 {
		within = r.path[len(r.path)-2]
	}
	switch name {
	case "link", "origlink":
		r.add(text, crawl.HopLink, "feed/link", "")
	case "guid", "id":
		if absolute(text) && name == "guid" && r.guid {
			r.add(text, crawl.HopLink, "feed/guid", "")
		} else if absolute(text) {
			r.item.id = text
		}
	case "comments", "commentrss", "uri":
		if absolute(text) {
			r.add(text, crawl.HopLink, "feed/"+name, "")
		}
	case "url":
		if within == "image" {
			r.add(text, crawl.HopSpeculative, "feed/media", "")
		}
	case "title":
		if within != "image" && within != "textinput" && r.item.title == "" {
			r.item.title = plainText(text)
		}
	case "description", "summary", "content", "encoded", "subtitle", "tagline":
		if len(r.item.texts) < maxItemTexts && within != "image" && within != "textinput" {
			r.item.texts = append(r.item.texts, feedText{text, r.kind != "text" && strings.ContainsAny(text, "<&")})
		}
	}
}

// rest: what stands after a fault is not read.
func (r *feedReader) rest([]byte) {}

func (b *builder) setResolver(base urls.Resolver) {
	b.base = base
	clear(b.resolved)
}

// rebase follows xml:base.
func (r *feedReader) rebase(t xml.StartElement) {
	for _, a := range t.Attr {
		if a.Name.Local != "base" || a.Name.Space == "" || !r.valid {
			continue
		}
		if u, err := r.base.Resolve(a.Value); err == nil {
			if base, err := urls.NewResolver(u.String()); err == nil {
				r.bases = append(r.bases, outerBase{len(r.path), r.base})
				r.setResolver(base)
			}
		}
	}
}

// add keeps a link of the item, resolved by the base that holds where it stands.
func (r *feedReader) add(ref string, hop crawl.Hop, context, rel string) {
	if ref = strings.TrimSpace(ref); ref == "" || len(r.item.links) >= maxItemLinks {
		return
	}
	if target := r.resolve(ref); target != "" {
		r.item.links = append(r.item.links, crawl.Outlink{URL: target, Hop: hop, Context: context, Rel: rel})
	}
}

// flush takes the item that has ended: its title is the anchor of its links, its first text stands around them.
func (r *feedReader) flush() {
	item := r.item
	r.item = feedItem{}
	if r.doc.Title == "" {
		r.doc.Title = cut(item.title, maxTitle)
	}
	r.write(item.title)
	r.breakBlock()
	if item.id != "" && !slices.ContainsFunc(item.links, func(l crawl.Outlink) bool { return l.Hop == crawl.HopLink }) {
		item.links = append(item.links, crawl.Outlink{URL: item.id, Hop: crawl.HopLink, Context: "feed/id"})
	}
	from, block := len(r.doc.Links), len(r.doc.Blocks)
	for _, l := range item.links {
		at := r.link(l.URL, l.Hop, l.Context, "", l.Rel)
		if l.Hop == crawl.HopLink {
			r.anchor(at, item.title)
		}
	}
	to := len(r.doc.Links)
	for _, t := range item.texts {
		if t.html {
			r.fragment(t.text)
		} else {
			r.write(t.text)
		}
		r.breakBlock()
	}
	r.breakBlock()
	for i := from; i < to; i++ {
		if r.doc.Links[i].Block = block; block == len(r.doc.Blocks) {
			r.doc.Links[i].Block = -1
		}
	}
}

// fragment takes links and text of a piece of HTML; what it says of a page is not said of the feed.
func (r *feedReader) fragment(text string) {
	m := meter{text: []byte(text)}
	end := m.bound(max(r.limits.Markup-r.markup, 0))
	r.markup += m.nodes
	root, err := html.Parse(bytes.NewReader(m.text[:end]))
	if err != nil {
		return
	}
	var drop []*html.Node
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Base, atom.Meta, atom.Link, atom.Title, atom.Script:
			drop = append(drop, n)
		}
	}
	for _, n := range drop {
		n.Parent.RemoveChild(n)
	}
	lang := r.lang
	w := walker{builder: r.builder}
	from := len(r.doc.Links)
	w.walk(root)
	for i := from; i < len(r.doc.Links); i++ {
		if l := &r.doc.Links[i]; l.Hop == crawl.HopEmbed { // a browser does not show it
			l.Hop = crawl.HopSpeculative
		}
	}
	r.lang, r.node, r.builder.start = lang, nil, nil
}

// plainText is a title without its markup.
func plainText(s string) string {
	if strings.ContainsAny(s, "<&") {
		if root, err := html.Parse(strings.NewReader(cut(s, maxTitle*4))); err == nil {
			return cut(textOf(root), maxTitle)
		}
	}
	return cut(string(bytes.TrimSpace(Fold(nil, s))), maxTitle)
}

// jsonFeed is what is read of a JSON Feed (jsonfeed.org 1.1).
type jsonFeed struct {
	Version     string `json:"version"`
	Title       string `json:"title"`
	Home        string `json:"home_page_url"`
	Description string `json:"description"`
	Next        string `json:"next_url"`
	Items       []struct {
		ID          string `json:"id"`
		URL         string `json:"url"`
		External    string `json:"external_url"`
		Title       string `json:"title"`
		Summary     string `json:"summary"`
		HTML        string `json:"content_html"`
		Text        string `json:"content_text"`
		Image       string `json:"image"`
		Attachments []struct {
			URL string `json:"url"`
		} `json:"attachments"`
	} `json:"items"`
}

// isJSONFeed knows a JSON Feed by its version, which stands among the first members.
func isJSONFeed(kind string, body []byte) bool {
	return kind == "application/feed+json" || kind == "application/json" && bytes.Contains(body[:min(len(body), maxProlog)], []byte("jsonfeed.org/version"))
}

// jsonFeed takes links and texts of a JSON Feed.
func (b *builder) jsonFeed(body []byte) {
	var f jsonFeed
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &f); err != nil {
		return
	}
	r := &feedReader{builder: b}
	r.item.title = plainText(f.Title)
	r.add(f.Home, crawl.HopLink, "feed/link", "")
	r.add(f.Next, crawl.HopLink, "feed/link", "next")
	r.item.texts = append(r.item.texts, feedText{f.Description, false})
	r.flush()
	for _, i := range f.Items {
		r.item.title = plainText(i.Title)
		r.add(i.URL, crawl.HopLink, "feed/link", "")
		r.add(i.External, crawl.HopLink, "feed/link", "")
		r.add(i.Image, crawl.HopSpeculative, "feed/media", "")
		for _, a := range i.Attachments {
			r.add(a.URL, crawl.HopLink, "feed/enclosure", "")
		}
		if absolute(i.ID) {
			r.item.id = i.ID
		}
		r.item.texts = append(r.item.texts, feedText{i.Summary, false}, feedText{i.HTML, true}, feedText{i.Text, false})
		r.flush()
	}
}

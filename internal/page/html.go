package page

import (
	"bytes"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// html parses the tree and walks it. Trees that the parser refuses (nested deeper than it allows) are
// read token by token instead, which finds links and text as well.
func (b *builder) html(body []byte, contentType string) {
	text, from, name := decode(body, contentType)
	b.doc.Charset, b.base = name, b.base.In(from)
	if bytes.HasPrefix(text, []byte("<?xml")) {
		b.stylesheets(text)
	}
	root, text, anchors := b.tree(text)
	if root == nil {
		b.tokens(text)
		return
	}
	b.doc.Root, b.doc.Source, b.doc.links = root, text, b
	b.read(root, anchors)
}

// read walks a tree that has about so many anchors.
func (b *builder) read(root *html.Node, anchors int) {
	b.expect(anchors)
	b.head(goquery.NewDocumentFromNode(root))
	w := walker{builder: b}
	w.walk(root)
}

// JoinedBlocks are the text blocks of a page as they were before br elements separated words: archives have places with checksums of such
// texts. It parses the page once more. A page without a tree has its Blocks.
func (d *Document) JoinedBlocks() []string {
	if d.Root == nil || d.links == nil {
		return d.Blocks
	}
	earlier := &Document{Page: crawl.Page{URL: d.URL}}
	b := newBuilder(earlier, d.URL, d.links.limits)
	b.joined = true
	root, _, anchors := b.tree(d.Source)
	if root == nil {
		return d.Blocks
	}
	b.read(root, anchors)
	b.finish()
	return earlier.Blocks
}

// tree parses as much of a text as its markup allows, which it returns too, with about how many anchors it has. The root is nil if the
// parser refuses the text.
func (b *builder) tree(text []byte) (root *html.Node, read []byte, anchors int) {
	markup, room := meter{text: text}, b.limits.Markup-b.marked
	if end := markup.bound(room); end < len(text) {
		text, b.doc.Cut = text[:end], true
	}
	b.marked += min(markup.nodes, room)
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, text, 0
	}
	return root, text, markup.anchors
}

// tokens reads a page without building its tree.
func (b *builder) tokens(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text))
	w := walker{builder: b}
	skip, templates, drawings := 0, 0, b.mute
	var opened *html.Node // the last tag, if it opens an element
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			if skip == 0 {
				b.write(string(z.Text()))
			} else if opened != nil && templates == 0 {
				switch opened.DataAtom {
				case atom.Style:
					w.styleElement(opened, string(z.Text()))
				case atom.Script:
					w.scriptElement(opened, string(z.Text()))
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			if silent(t.DataAtom) && t.Type == html.StartTagToken {
				skip++
			}
			if isBlock(t.DataAtom) {
				b.breakBlock()
			}
			if t.DataAtom == atom.Br && skip == 0 {
				b.endLine()
			}
			if t.DataAtom == atom.Svg && t.Type == html.StartTagToken {
				drawings++
			}
			if drawings > 0 {
				n.Namespace = "svg"
			}
			opened = n
			if t.DataAtom == atom.Template && t.Type == html.StartTagToken && !w.shown(n) {
				templates++
			}
			if templates == 0 {
				w.open(n)
			}
		case html.EndTagToken:
			t := z.Token()
			opened = nil
			if t.DataAtom == atom.Template && templates > 0 {
				templates--
			}
			if t.DataAtom == atom.Svg && drawings > b.mute {
				drawings--
			}
			if silent(t.DataAtom) && skip > 0 {
				skip--
			}
			if isBlock(t.DataAtom) {
				b.breakBlock()
			}
		}
	}
}

// step is an element on the way, with its first class.
type step struct{ name, class string }

// walker walks a tree and keeps the tag path to where it is.
type walker struct {
	*builder
	path    []step
	scratch []byte
	names   map[string]string // tag paths and contexts of links: those of most are alike
}

// maxPath bounds a tag path; the steps nearest to the root are left out.
const maxPath = 12

// tagPath names the elements on the way here, each with its first class: "ul.menu/li/a".
func (w *walker) tagPath() string {
	b := w.scratch[:0]
	for i, n := range w.path[max(len(w.path)-maxPath, 0):] {
		if i > 0 {
			b = append(b, '/')
		}
		b = append(b, n.name...)
		if n.class != "" {
			b = append(append(b, '.'), n.class...)
		}
	}
	return w.once(b)
}

// once returns the string that it has returned before for the same bytes. b becomes the scratch buffer.
func (w *walker) once(b []byte) string {
	w.scratch = b
	name, known := w.names[string(b)]
	if !known {
		if w.names == nil {
			w.names = map[string]string{}
		}
		name = string(b)
		w.names[name] = name
	}
	return name
}

// link adds a link that stands in an attribute of the element which the path leads to; see builder.link.
func (w *walker) link(n *html.Node, attribute, ref string, hop crawl.Hop, rel string) int {
	had := len(w.doc.Links)
	at := w.builder.link(ref, hop, "", "", rel)
	if len(w.doc.Links) > had { // it was taken: only then its context is made
		w.stand(at, append(append(append(w.scratch[:0], n.Data...), "/@"...), attribute...))
	}
	return at
}

// linkIn adds a link that stands in the text of an element, or within an attribute.
func (w *walker) linkIn(ref string, hop crawl.Hop, context ...string) {
	had := len(w.doc.Links)
	at := w.builder.link(ref, hop, "", "", "")
	if len(w.doc.Links) > had {
		b := w.scratch[:0]
		for _, part := range context {
			b = append(b, part...)
		}
		w.stand(at, b)
	}
}

// stand notes where a link stands; context is in the scratch buffer.
func (w *walker) stand(at int, context []byte) {
	w.doc.Links[at].Context = w.once(context)
	w.doc.Links[at].TagPath = w.tagPath()
}

func (w *walker) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.node = n
		w.write(n.Data)
		return
	case html.ElementNode:
		if n.DataAtom == atom.Title && w.doc.Title == "" && !inSVG(n) && w.mute == 0 {
			w.doc.Title = cut(textOf(n), 1024)
			return
		}
		class, _, _ := strings.Cut(strings.TrimSpace(attr(n, "class")), " ")
		w.path = append(w.path, step{n.Data, cut(class, 40)})
		defer func() { w.path = w.path[:len(w.path)-1] }()
		if isBlock(n.DataAtom) && w.mute == 0 {
			w.breakBlock()
			defer w.breakBlock()
		}
		if n.DataAtom == atom.Br {
			w.endLine()
		}
		if at := w.open(n); at >= 0 {
			outer := w.inAnchor
			w.inAnchor = at
			defer func() {
				w.inAnchor = outer
				if w.doc.Links[at].Anchor == "" {
					w.anchor(at, anchorText(n))
				}
			}()
		}
		if silent(n.DataAtom) && !w.shown(n) {
			if !w.hasLinks(n) {
				return
			}
			w.mute++
			defer func() { w.mute-- }()
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.walk(c)
	}
}

// shown reports whether a template holds what is shown: the shadow tree of its parent (HTML §4.12.3).
func (w *walker) shown(n *html.Node) bool {
	return n.DataAtom == atom.Template && attr(n, "shadowrootmode") != ""
}

// hasLinks reports whether there may be links below an element without text to read. It takes those of a style sheet.
func (w *walker) hasLinks(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Style:
		w.styleElement(n, rawText(n))
	case atom.Script:
		w.scriptElement(n, rawText(n))
	case atom.Svg, atom.Object:
		return true
	}
	return false
}

// open takes the links and metadata of an element; it returns the index of an anchor's link, else −1.
func (w *walker) open(n *html.Node) int {
	at := -1
	if inSVG(n) {
		at = w.openSVG(n)
	} else {
		at = w.openHTML(n)
	}
	w.attributes(n)
	return at
}

func (w *walker) openHTML(n *html.Node) int {
	get := func(name string) string { return attr(n, name) }
	embed := func(name string) {
		if v := get(name); v != "" {
			w.link(n, name, v, crawl.HopEmbed, "")
		}
	}
	switch n.DataAtom {
	case atom.Html:
		if w.lang == "" && w.mute == 0 {
			w.lang = get("lang")
		}
	case atom.Base:
		if href := get("href"); href != "" {
			w.setBase(href)
		}
	case atom.A, atom.Area:
		at := w.link(n, "href", get("href"), crawl.HopLink, strings.ToLower(get("rel")))
		w.meant(n, get("href"))
		if n.DataAtom == atom.A {
			return at
		}
		w.anchor(at, get("alt"))
	case atom.Link:
		w.linkElement(n, strings.ToLower(get("rel")), get("href"))
		w.srcset(n, "imagesrcset")
	case atom.Meta:
		w.meta(n)
	case atom.Frame, atom.Iframe, atom.Script, atom.Embed, atom.Track:
		embed("src")
		if n.DataAtom == atom.Iframe {
			w.srcdoc(get("srcdoc"))
			if text, is := dataURL(get("src"), "text/html"); is {
				w.absolute++
				w.srcdoc(text)
				w.absolute--
			}
		}
		if n.DataAtom == atom.Script {
			w.structured(n)
		}
	case atom.Img, atom.Source, atom.Video, atom.Audio, atom.Input:
		if n.DataAtom != atom.Input || strings.EqualFold(get("type"), "image") {
			embed("src")
		}
		embed("poster")
		w.srcset(n, "srcset")
	case atom.Object:
		embed("data")
	case atom.Param:
		if name := get("name"); strings.EqualFold(name, "movie") || strings.EqualFold(name, "src") {
			embed("value")
		}
	case atom.Body, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
		embed("background")
	}
	return -1
}

// silent elements hold no text to read.
func silent(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Textarea, atom.Select, atom.Iframe, atom.Object, atom.Svg, atom.Math:
		return true
	}
	return false
}

// isBlock reports whether an element begins and ends a text block.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Dd, atom.Details,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Header, atom.Hr, atom.Html,
		atom.Li, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Summary, atom.Table,
		atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Title, atom.Center:
		return true
	}
	return false
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func inSVG(n *html.Node) bool { return n.Namespace != "" }

// textOf is the folded text below an element.
func textOf(n *html.Node) string {
	var raw strings.Builder
	collect(&raw, n)
	return string(bytes.TrimSpace(Fold(nil, raw.String())))
}

// anchorText is the text below an anchor, with what its images say.
func anchorText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
		return c.Data
	}
	var raw strings.Builder
	collect(&raw, n)
	if strings.TrimSpace(raw.String()) == "" {
		return attr(n, "title")
	}
	return raw.String()
}

func collect(out *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		out.WriteString(n.Data)
		return
	}
	switch n.DataAtom {
	case atom.Img:
		out.WriteString(" " + attr(n, "alt") + " ")
	case atom.Br:
		out.WriteByte(' ')
	}
	if silent(n.DataAtom) || out.Len() > 64<<10 {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		collect(out, c)
	}
}

package extract

import (
	"bytes"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// spaced reports whether an element separates words, though no white space may stand between them.
func spaced(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Blockquote, atom.Br, atom.Dd, atom.Div, atom.Dt, atom.Figcaption,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Li, atom.P, atom.Pre, atom.Section,
		atom.Td, atom.Th, atom.Tr:
		return true
	}
	return false
}

// skipSet are elements that do not belong to a value, with all that is below them. The page itself stays as it is: others
// read it by a flattened tree at the same time.
type skipSet map[*html.Node]bool

// textOf is the text below a node that a reader sees, its white space folded: no scripts, no style sheets, nothing of the
// elements to skip. It may be cut off behind so many bytes.
func textOf(n *html.Node, skip skipSet, most int) string {
	b := texts.Get().(*[]byte)
	if n.Type == html.TextNode {
		*b = page.Fold((*b)[:0], shorten(n.Data, most))
	} else {
		*b = collect((*b)[:0], n, skip, most)
	}
	text := string(bytes.TrimSpace(*b))
	texts.Put(b)
	return text
}

// texts are buffers for the text below nodes.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

func collect(b []byte, n *html.Node, skip skipSet, most int) []byte {
	for c := n.FirstChild; c != nil && len(b) <= most; c = c.NextSibling {
		switch {
		case skip != nil && skip[c]:
		case c.Type == html.TextNode:
			b = page.Fold(b, shorten(c.Data, most))
		case c.Type != html.ElementNode || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
		case spaced(c.DataAtom):
			b = page.Fold(collect(page.Fold(b, " "), c, skip, most), " ")
		default:
			b = collect(b, c, skip, most)
		}
	}
	return b
}

// briefText is the text below a node as textOf gives it, of its first few nodes: of one that holds a page full of them it is not all.
func briefText(n *html.Node, most int) string {
	var b []byte
	left := maxNodes
	var add func(n *html.Node)
	add = func(n *html.Node) {
		for c := n.FirstChild; c != nil && left > 0 && len(b) <= most; c = c.NextSibling {
			left--
			switch {
			case c.Type == html.TextNode:
				b = page.Fold(b, shorten(c.Data, most))
			case c.Type != html.ElementNode || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
			case spaced(c.DataAtom):
				b = page.Fold(b, " ")
				add(c)
				b = page.Fold(b, " ")
			default:
				add(c)
			}
		}
	}
	add(n)
	return string(bytes.TrimSpace(b))
}

func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// Reference is the text of an attribute, or an element's href; "" if there is none.
func Reference(tree *xpath.Tree, r xpath.Ref) string {
	n := tree.Node(r)
	if r.Attr >= 0 {
		return strings.TrimSpace(n.Attr[r.Attr].Val)
	}
	if n.Type != html.ElementNode {
		return ""
	}
	return strings.TrimSpace(attr(n, "href"))
}

package aah

import (
	"bytes"
	"strings"
	"sync"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
)

// baseOf is what the references of a page are relative to: its first base element, else its URL.
func baseOf(d *page.Document) (urls.Resolver, error) {
	r, err := urls.NewResolver(d.URL)
	if err != nil {
		return r, err
	}
	for n := range d.Root.Descendants() {
		if n.DataAtom != atom.Base {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" || a.Val == "" {
				continue
			}
			if u, err := r.Resolve(a.Val); err == nil {
				return urls.NewResolver(u.String())
			}
			return r, nil
		}
	}
	return r, nil
}

// spaced tells of the elements that part words, though no white space may stand between them.
func spaced(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Blockquote, atom.Br, atom.Dd, atom.Div, atom.Dt, atom.Figcaption,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Li, atom.P, atom.Pre, atom.Section,
		atom.Td, atom.Th, atom.Tr:
		return true
	}
	return false
}

// textOf is the text below a node that a reader sees, its white space folded: no scripts, no style sheets.
func textOf(n *html.Node) string {
	b := texts.Get().(*[]byte)
	if n.Type == html.TextNode {
		*b = page.Fold((*b)[:0], n.Data)
	} else {
		*b = collect((*b)[:0], n)
	}
	text := string(bytes.TrimSpace(*b))
	texts.Put(b)
	return text
}

// texts are buffers for the text below nodes.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

func collect(b []byte, n *html.Node) []byte {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			b = page.Fold(b, c.Data)
		case c.Type != html.ElementNode || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
		case spaced(c.DataAtom):
			b = page.Fold(collect(page.Fold(b, " "), c), " ")
		default:
			b = collect(b, c)
		}
	}
	return b
}

// first and all evaluate an expression; one that fails on this page selects nothing, for the evaluator
// panics where a function meets a type it does not take.
func first(n *html.Node, expr *xpath.Expr) (found *html.Node) {
	defer func() { _ = recover() }()
	return htmlquery.QuerySelector(n, expr)
}

func all(n *html.Node, expr *xpath.Expr) (found []*html.Node) {
	defer func() { _ = recover() }()
	return htmlquery.QuerySelectorAll(n, expr)
}

// navigator stands on a node and knows the whole page, so that "//" means the page in a property of an
// object too.
func navigator(root, n *html.Node) *htmlquery.NodeNavigator {
	var path []*html.Node
	for at := n; at != root; at = at.Parent {
		if at == nil { // an attribute: it has no place in the tree
			return htmlquery.CreateXPathNavigator(n)
		}
		path = append(path, at)
	}
	nav := htmlquery.CreateXPathNavigator(root)
	for i := len(path) - 1; i >= 0; i-- {
		for ok := nav.MoveToChild(); ok && nav.Current() != path[i]; {
			ok = nav.MoveToNext()
		}
	}
	return nav
}

// evaluate returns the text of the first node that an expression selects from where the navigator stands.
func evaluate(at *htmlquery.NodeNavigator, expr *xpath.Expr) (text string, found bool) {
	defer func() { _ = recover() }()
	selected := expr.Select(at.Copy())
	if !selected.MoveNext() {
		return "", false
	}
	nav, ok := selected.Current().(*htmlquery.NodeNavigator)
	switch {
	case !ok:
		return "", false
	case nav.NodeType() == xpath.AttributeNode:
		return strings.Join(strings.Fields(nav.Value()), " "), true
	}
	return textOf(nav.Current()), true
}

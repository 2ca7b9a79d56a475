package aah

import (
	"bytes"
	"strings"

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

// spaced are the elements that part words, though no white space may stand between them.
var spaced = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Blockquote: true, atom.Br: true, atom.Dd: true, atom.Div: true,
	atom.Dt: true, atom.Figcaption: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true,
	atom.H6: true, atom.Hr: true, atom.Li: true, atom.P: true, atom.Pre: true, atom.Section: true, atom.Td: true,
	atom.Th: true, atom.Tr: true,
}

// textOf is the text below a node that a reader sees, its white space folded: no scripts, no style sheets.
func textOf(n *html.Node) string {
	var b bytes.Buffer
	if n.Type == html.TextNode {
		page.Fold(&b, n.Data)
	} else {
		collect(&b, n)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func collect(b *bytes.Buffer, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			page.Fold(b, c.Data)
		case c.Type != html.ElementNode || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
		case spaced[c.DataAtom]:
			page.Fold(b, " ")
			collect(b, c)
			page.Fold(b, " ")
		default:
			collect(b, c)
		}
	}
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

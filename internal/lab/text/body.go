package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Body is the text that gold selects from a page.
type Body struct {
	Text string // white space folded; of several elements joined by line feeds
	Sum  string // crawl.SumOf of the text; "" if there is no body
	in   map[*html.Node]bool
}

// bodyOf finds the body of a page. What several expressions select counts once.
func bodyOf(root *html.Node, g *Gold) (b Body, err error) {
	if len(g.Body) == 0 {
		return b, nil
	}
	eval := xpath.NewEval(root, xpath.DefaultBudget)
	defer eval.Free()
	var elements []xpath.Ref
	for _, source := range g.Body {
		found, err := selected(eval, source, eval.Tree.Root())
		if err != nil {
			return b, fmt.Errorf("body: %w", err)
		}
		if len(found) == 0 {
			return b, fmt.Errorf("body: %q selects nothing", source)
		}
		elements = append(elements, found...)
	}
	slices.SortFunc(elements, func(a, b xpath.Ref) int { return int(a.ID - b.ID) })
	out, err := leftOut(eval, g.Without, elements)
	if err != nil {
		return b, err
	}
	var texts []string
	b.in = map[*html.Node]bool{}
	covered := int32(-1)
	for _, e := range elements {
		if e.ID < covered {
			continue
		}
		covered = eval.Tree.End(e)
		n := eval.Tree.Node(e)
		texts = append(texts, textBelow(n, out))
		mark(n, out, b.in)
	}
	b.Text = strings.TrimSpace(strings.Join(texts, "\n"))
	if len(Tokens(b.Text)) == 0 {
		return b, errors.New("body: it has no words")
	}
	b.Sum = crawl.SumOf(b.Text)
	return b, nil
}

func selected(eval *xpath.Eval, source string, at xpath.Ref) ([]xpath.Ref, error) {
	x, err := xpath.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", source, err)
	}
	found, err := eval.Select(x, at, 0)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", source, err)
	}
	for _, r := range found {
		if r.Attr >= 0 || eval.Tree.Node(r).Type != html.ElementNode {
			return nil, fmt.Errorf("%q selects what is no element", source)
		}
	}
	return found, nil
}

// leftOut are the elements that are no part of the body. An expression that selects nothing in any element is a fault.
func leftOut(eval *xpath.Eval, without []string, elements []xpath.Ref) (map[*html.Node]bool, error) {
	out := map[*html.Node]bool{}
	for _, source := range without {
		any := false
		for _, e := range elements {
			found, err := selected(eval, source, e)
			if err != nil {
				return nil, fmt.Errorf("without: %w", err)
			}
			for _, r := range found {
				if r.ID != e.ID && eval.Tree.Within(r, e) {
					out[eval.Tree.Node(r)], any = true, true
				}
			}
		}
		if !any {
			return nil, fmt.Errorf("without: %q selects nothing within the body", source)
		}
	}
	return out, nil
}

// textBelow is the text below a node, its white space folded, without some elements and what is no text for readers.
func textBelow(n *html.Node, out map[*html.Node]bool) string {
	return strings.TrimSpace(string(collect(nil, n, out)))
}

func collect(b []byte, n *html.Node, out map[*html.Node]bool) []byte {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			b = page.Fold(b, c.Data)
		case c.Type != html.ElementNode || out[c] || silent(c.DataAtom):
		case inline(c.DataAtom):
			b = collect(b, c, out)
		default:
			b = page.Fold(collect(page.Fold(b, " "), c, out), " ")
		}
	}
	return b
}

// mark notes all nodes that are part of a body.
func mark(n *html.Node, out, in map[*html.Node]bool) {
	in[n] = true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !out[c] && (c.Type != html.ElementNode || !silent(c.DataAtom)) {
			mark(c, out, in)
		}
	}
}

// silent reports whether the text of an element is not shown as text. What stands in noscript is shown by browsers without scripts: some
// applications have the texts of a page there alone.
func silent(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Svg, atom.Select, atom.Textarea, atom.Head:
		return true
	}
	return false
}

// inline reports whether an element separates no words.
func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
		atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Nobr, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub,
		atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

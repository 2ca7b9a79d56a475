package extract

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// What is cleaned out of the body of a page's only article.
const (
	cleanWords = 3      // that an element must have
	cleanLinks = 1. / 3 // of its words that are linked, as in the decision tree (isContent)
	mostClean  = 0.25   // of the body's words: a longer list of links is what the page is for
	leastClean = 0.5    // of the body's words that must stay
)

// clean finds the largest elements of a body that are no text of it: they are named for something else, or no block of them is Main and they
// are links. Elements are asked for their name and role attribute alone, not for their classes: what is left out of a text must be the same
// after a site changed its templates.
func (p *Page) clean(r xpath.Ref, out []xpath.Ref) (less []xpath.Ref) {
	l, tree := p.layout(), p.Eval.Tree
	all, main := p.wordsOf(r, out)
	if r.Attr >= 0 || main == 0 || tree.Node(r).Type != html.ElementNode {
		return nil
	}
	left := all
	for id, end := r.ID+1, tree.End(r); id < end; id++ {
		at := xpath.Ref{ID: id, Attr: -1}
		n := tree.At(id)
		from, to := l.blocks(tree, at)
		if n.Type != html.ElementNode || from == to || len(out) > 0 && id == out[0].ID || keeps(n.DataAtom) {
			if len(out) > 0 && id == out[0].ID {
				out = out[1:]
			}
			id = tree.End(at) - 1
			for len(out) > 0 && out[0].ID <= id {
				out = out[1:]
			}
			continue
		}
		words, linked := l.words[to]-l.words[from], 0
		apart := isApart(n)
		if l.main[to] > l.main[from] && !apart {
			continue
		}
		for i := from; i < to; i++ {
			linked += l.linked[i]
		}
		if words < cleanWords || !apart && (float64(linked) <= cleanLinks*float64(words) || p.isHeading(at, words)) {
			continue
		}
		if id = tree.End(at) - 1; float64(words) <= mostClean*float64(all) {
			less, left = append(less, at), left-words
		}
	}
	if float64(left) < leastClean*float64(all) {
		return nil
	}
	return less
}

// isHeading reports whether one heading, table or listing has all words of an element: it is no list of links then.
func (p *Page) isHeading(r xpath.Ref, words int) bool {
	l, tree := p.layout(), p.Eval.Tree
	for id, end := r.ID+1, tree.End(r); id < end; id++ {
		if n := tree.At(id); n.Type == html.ElementNode && keeps(n.DataAtom) {
			all, _ := l.below(tree, xpath.Ref{ID: id, Attr: -1})
			return all == words
		}
	}
	return false
}

// keeps reports whether an element of a text is never cleaned out of it, nor anything in it.
func keeps(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Pre, atom.Code, atom.Figcaption, atom.Caption, atom.Blockquote:
		return true
	}
	return false
}

// isApart reports whether an element is by its name, or by its role attribute, not for the text that it stands in.
func isApart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Aside, atom.Footer, atom.Form, atom.Button:
		return true
	}
	role, ok := roleOfARIA(attr(n, "role"))
	return ok && role != Main
}

// alsoSkip adds elements to a set.
func (p *Page) alsoSkip(skip skipSet, refs []xpath.Ref) skipSet {
	for _, r := range refs {
		if skip == nil {
			skip = skipSet{}
		}
		skip[p.Eval.Tree.Node(r)] = true
	}
	return skip
}

package adapt

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// articleLetters is the least number of letters that the text of an article has.
const articleLetters = 200

// article takes the page as one object: its text, heading and date. The text is that of the element that agrees best with the page's main
// text, or of the one in which paragraphs hold the most.
func (l *learner) article(kind string) []*found {
	tree := l.eval.Tree
	root := int32(0)
	for id := range int32(tree.Len()) {
		if tree.At(id).DataAtom == atom.Body {
			root = id
			break
		}
	}
	best := int32(-1)
	if l.words != nil {
		best = l.mainBody(root, root+1, nil)
	}
	if best < 0 {
		best = l.mostProse(root)
	}
	if best < 0 {
		return nil
	}
	f := &found{print: &Print{Type: kind}, parts: map[string]xpath.Ref{}}
	f.put(l, "body", xpath.Ref{ID: best, Attr: -1})
	if at, ok := l.heading(); ok {
		f.put(l, "title", at)
	}
	if at, ok := l.date(root); ok {
		f.put(l, "published", at)
	}
	l.chains([]*found{f})
	if len(f.chain) == 0 {
		return nil
	}
	return []*found{f}
}

// mostProse is the element in which paragraphs hold the most text; -1 if that is too little for an article.
func (l *learner) mostProse(root int32) int32 {
	tree := l.eval.Tree
	l.pay(2 * tree.Len())
	best, most := int32(-1), 0
	for id := root; id < tree.End(xpath.Ref{ID: root, Attr: -1}); id++ {
		n := tree.At(id)
		if n.DataAtom == atom.Script || n.DataAtom == atom.Style || n.DataAtom == atom.Noscript {
			id = tree.End(xpath.Ref{ID: id, Attr: -1}) - 1
			continue
		}
		if n.Type != html.ElementNode {
			continue
		}
		if own := l.countProse(id); own > most {
			best, most = id, own
		}
	}
	if most < articleLetters {
		return -1
	}
	return best
}

// countProse counts the letters that stand in an element's own text and in the paragraphs right in it.
func (l *learner) countProse(id int32) (letters int) {
	tree := l.eval.Tree
	for c := id + 1; c < tree.End(xpath.Ref{ID: id, Attr: -1}); c = tree.End(xpath.Ref{ID: c, Attr: -1}) {
		n := tree.At(c)
		switch {
		case n.Type == html.TextNode:
			letters += l.texts.sums[c].size
		case n.DataAtom == atom.P || n.DataAtom == atom.Blockquote || n.DataAtom == atom.Pre || n.DataAtom == atom.Br || n.DataAtom == atom.I ||
			n.DataAtom == atom.B || n.DataAtom == atom.Em || n.DataAtom == atom.Strong || n.DataAtom == atom.Ul || n.DataAtom == atom.Ol:
			letters += l.texts.sums[c].size
		}
	}
	return letters
}

func (l *learner) heading() (xpath.Ref, bool) {
	for _, name := range []atom.Atom{atom.H1, atom.H2} {
		for id := range int32(l.eval.Tree.Len()) {
			if l.eval.Tree.At(id).DataAtom == name && l.texts.sums[id].size >= minLetters {
				return xpath.Ref{ID: id, Attr: -1}, true
			}
		}
	}
	return xpath.Ref{}, false
}

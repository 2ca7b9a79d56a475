package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// maxPlaced bounds the nodes of a rule that are looked at for one that is of the page's object.
const maxPlaced = 8

// firstInPlace is the first of the nodes that a rule selects which is not misplaced; nil if there is none, for the next rule may know better.
func (p *Page) firstInPlace(q *kb.Property, at xpath.Ref, refs []xpath.Ref) []xpath.Ref {
	if q.Many {
		return refs
	}
	for _, r := range p.Select(q.XPath, q.Needs, at, maxPlaced) {
		if !p.misplaced(q, r) {
			return []xpath.Ref{r}
		}
	}
	return nil
}

// misplaced reports whether a node is not what a rule for a property looks for.
func (p *Page) misplaced(q *kb.Property, r xpath.Ref) bool {
	return p.outsideMain(r) || q.Name == "published" && p.saysUpdated(r)
}

// outsideMain reports whether a node is of something else than what the page is for: it stands in comments, in a menu, in a column beside the text,
// or in an article that holds less than a third of the page's main text.
func (p *Page) outsideMain(r xpath.Ref) bool {
	tree, up := p.Eval.Tree, true
	for depth := 0; up && depth < maxDepth; depth++ {
		switch n := tree.Node(r); {
		case n.DataAtom == atom.Body || n.DataAtom == atom.Head:
			return false
		case n.DataAtom == atom.Aside || n.DataAtom == atom.Nav || n.DataAtom == atom.Article || beside(attr(n, "class")) || beside(attr(n, "id")),
			roleOfNames(attr(n, "class")) == Comments || roleOfNames(attr(n, "id")) == Comments:
			return !p.holdsText(r)
		}
		r, up = tree.Parent(r)
	}
	return false
}

// saysUpdated reports whether the text just before a node, or the name of an element around it, says that its date is that of a change.
func (p *Page) saysUpdated(r xpath.Ref) bool {
	var buf [maxSpans + 1]span
	for n, depth := p.Eval.Tree.Node(r), 0; n != nil && depth < 3; n, depth = n.Parent, depth+1 {
		if class := strings.ToLower(attr(n, "class")); strings.Contains(class, "last-updated") || strings.Contains(class, "last-modified") || strings.Contains(class, "lastmod") {
			return true
		}
		before := n.PrevSibling
		if before == nil || before.Type == html.TextNode && strings.TrimSpace(before.Data) == "" {
			continue
		}
		if before.Type != html.TextNode || len(before.Data) > maxDateAlone {
			return false
		}
		list := spansOf(before.Data, buf[:0])
		return len(list) > 0 && list[len(list)-1].kind == updated && fields(strings.Trim(list[len(list)-1].text, " :")) <= 1
	}
	return false
}

// holdsText reports whether an element has at least a third of the page's main text; of a short page each has.
func (p *Page) holdsText(r xpath.Ref) bool {
	l := p.layout()
	all := l.main[len(l.main)-1]
	if all < chosenWords || len(l.starts) == 0 {
		return true
	}
	_, main := l.below(p.Eval.Tree, r)
	return float64(main) >= leastShare*float64(all)
}

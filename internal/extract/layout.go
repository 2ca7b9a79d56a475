package extract

import (
	"sort"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// layout says what the text blocks of a page are for, and how many words of which kind stand below any element.
type layout struct {
	segments []Segment // of each text block, by the elements around it and by its form
	roles    []Segment // of each text block, by the elements around it alone
	starts   []int32   // of each text block the number of the text node that it begins in; empty if that is not known
	words    []int     // of the blocks before each; one more than there are blocks
	linked   []int     // of each block, the words in links; empty if starts is
	main     []int     // of those, in Main blocks
}

// layout is made once a page, in one pass over its elements.
func (p *Page) layout() *layout {
	if p.laidOut == nil {
		p.laidOut = newLayout(p.Eval.Tree, p.Doc.Blocks, p.Doc.Starts)
	}
	return p.laidOut
}

func newLayout(tree *xpath.Tree, blocks []string, starts []*html.Node) *layout {
	l := &layout{roles: make([]Segment, len(blocks)), words: make([]int, len(blocks)+1), main: make([]int, len(blocks)+1)}
	for i, b := range blocks {
		l.words[i+1] = l.words[i] + countWords(b)
		l.roles[i] = Main
	}
	if len(starts) == len(blocks) {
		l.readRoles(tree, l.readText(tree, starts))
	}
	l.classify()
	l.sum()
	return l
}

// sum counts the words of the Main blocks.
func (l *layout) sum() {
	for i, s := range l.segments {
		l.main[i+1] = l.main[i]
		if s == Main {
			l.main[i+1] += l.size(i)
		}
	}
}

// readText finds the nodes that text blocks begin in, the words of each block that are linked, and the headings of the first order.
// Links are counted where they stand: a page lists each of its links once, wherever else they are.
func (l *layout) readText(tree *xpath.Tree, starts []*html.Node) (headings []int32) {
	l.linked, l.starts = make([]int, len(starts)), make([]int32, 0, len(starts))
	anchor := int32(0) // the end of the one that is open
	for id := int32(0); int(id) < tree.Len(); id++ {
		n := tree.At(id)
		switch {
		case n.Type == html.TextNode:
			at := len(l.starts)
			for len(l.starts) < len(starts) && starts[len(l.starts)] == n { // of a long text several begin in one node
				l.starts = append(l.starts, id)
			}
			if id < anchor && len(l.starts) > 0 {
				for i := at; i < len(l.starts)-1; i++ {
					l.linked[i] = l.size(i)
				}
				l.linked[len(l.starts)-1] += countWords(n.Data)
			}
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.A && attr(n, "href") != "":
			anchor = max(anchor, tree.End(xpath.Ref{ID: id, Attr: -1}))
		case n.DataAtom == atom.H1:
			headings = append(headings, id)
		case n.DataAtom == atom.Script || n.DataAtom == atom.Style || n.DataAtom == atom.Svg || n.DataAtom == atom.Select:
			id = tree.End(xpath.Ref{ID: id, Attr: -1}) - 1
		}
	}
	if len(l.starts) < len(starts) { // another tree
		l.starts, l.linked = nil, nil
	}
	return headings
}

// readRoles gives each block the role of the innermost element around it that has one.
func (l *layout) readRoles(tree *xpath.Tree, headings []int32) {
	type open struct {
		role Segment
		end  int32
	}
	around := []open{{Main, int32(tree.Len())}}
	next := 0 // the block that begins next
	for id := int32(0); int(id) < tree.Len() && next < len(l.starts); id++ {
		for id >= around[len(around)-1].end {
			around = around[:len(around)-1]
		}
		role := around[len(around)-1].role
		for next < len(l.starts) && l.starts[next] == id {
			l.roles[next] = role
			next++
		}
		n, end := tree.At(id), tree.End(xpath.Ref{ID: id, Attr: -1})
		if n.Type != html.ElementNode || next == len(l.starts) {
			continue
		}
		if l.starts[next] >= end { // no block begins there
			id = end - 1
			continue
		}
		if own, ok := l.roleOf(tree, id, headings); ok && own != role {
			around = append(around, open{own, end})
		}
	}
}

// roleOf reports what an element says that it is for; ok is false if it says nothing. What its names say of an element with most of the
// page's words does not count, nor what they say of comments with the heading of the page.
func (l *layout) roleOf(tree *xpath.Tree, id int32, headings []int32) (role Segment, ok bool) {
	n, r := tree.At(id), xpath.Ref{ID: id, Attr: -1}
	if role, ok = roleOfTag(n.DataAtom); ok || n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return role, ok
	}
	role = Main
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "role":
			if named, ok := roleOfARIA(a.Val); ok {
				return named, true
			}
		case "class", "id":
			if role == Main {
				role = roleOfNames(a.Val)
			}
		}
	}
	switch {
	case role == Main:
		return role, false
	case role == Comments:
		at := sort.Search(len(headings), func(i int) bool { return headings[i] >= id })
		return role, at == len(headings) || headings[at] >= tree.End(r)
	}
	words, _ := l.below(tree, r)
	return role, 2*words <= l.words[len(l.words)-1]
}

// below counts the words of the blocks that begin below an element, and those of them that are Main once that is known.
func (l *layout) below(tree *xpath.Tree, r xpath.Ref) (words, main int) {
	from, to := l.blocks(tree, r)
	return l.words[to] - l.words[from], l.main[to] - l.main[from]
}

// blocks are the blocks that begin below an element: from is the first, to the one behind the last.
func (l *layout) blocks(tree *xpath.Tree, r xpath.Ref) (from, to int) {
	end := tree.End(r)
	from = sort.Search(len(l.starts), func(i int) bool { return l.starts[i] >= r.ID })
	return from, from + sort.Search(len(l.starts)-from, func(i int) bool { return l.starts[from+i] >= end })
}

// size is how many words a block has; 0 of one that is not there.
func (l *layout) size(i int) int {
	if i < 0 || i+1 >= len(l.words) {
		return 0
	}
	return l.words[i+1] - l.words[i]
}

// classify gives each block its segment, by the shallow text features of Kohlschütter, Fankhauser and Nejdl (Boilerplate detection
// using shallow text features, WSDM 2010): words and share of linked words of a block and its neighbours, by the decision tree of
// their paper; and by what elements around it are for.
func (l *layout) classify() {
	density := func(i int) float64 {
		if i < 0 || i >= len(l.linked) || l.size(i) == 0 {
			return 0
		}
		return min(float64(l.linked[i])/float64(l.size(i)), 1)
	}
	l.segments = make([]Segment, len(l.roles))
	for i, role := range l.roles {
		switch content := isContent(density(i), density(i-1), l.size(i-1), l.size(i), l.size(i+1)); {
		case role == Navigation:
			l.segments[i] = Navigation
		case content:
			l.segments[i] = role
		case density(i) > 0.5:
			l.segments[i] = Navigation
		}
	}
}

// isContent is the decision tree over the features of a block and those beside it.
func isContent(density, before float64, previous, words, next int) bool {
	switch {
	case density > 1./3:
		return false
	case before <= 5./9:
		return words > 16 || next > 15 || previous > 4
	}
	return words > 40 || next > 17
}

package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// The other texts of a page whose data have the first one alone.
const (
	seedPrefix = 60 // bytes of a text block that the text of the first object begins with
	maxClimb   = 12 // elements above that text in which the others are looked for
)

// Rows finds the posts of a page of which the first or a few are known, from its own data: elements like that around the text of the first,
// beside it, with a text in an element like the one that has it. What the data say of a post stays with it; other authors and dates are those of
// columns. It reports whether there are any; not if one of those that are known stands in none of the elements.
func (p *Page) Rows(set *Set) bool {
	if len(set.Located) > 0 || len(set.Objects) == 0 {
		return false
	}
	first := &set.Objects[0]
	kind := map[string]string{"post": "post", "question": "answer"}[first.Type]
	if kind == "" {
		return false
	}
	at, ok := p.holder(first.Properties.Get("body"))
	if !ok {
		at, ok = p.holder(first.Properties.Get("summary"))
	}
	if !ok {
		return false
	}
	bodies := p.likeIt(at)
	known, ok := p.inRows(set.Objects, bodies, at)
	if !ok {
		return false
	}
	title := first.Properties.Get("title")
	var out Set
	for i, r := range bodies {
		o := crawl.Object{Type: kind, Rule: BySegments, Confidence: unsure}
		if of := known[i]; of != nil {
			o = *of
			o.Properties = slices.DeleteFunc(slices.Clone(of.Properties), func(q crawl.Property) bool { return q.Name == "body" })
			if of != first {
				o.Type = kind
			}
		} else if title != "" && kind == "post" {
			o.Properties = append(o.Properties, crawl.Property{Name: "title", Value: title})
		}
		part, ok := p.property(&kb.Property{Name: "body"}, r, false, &o, &crawl.Properties{})
		if !ok {
			continue
		}
		out.Objects = append(out.Objects, o)
		out.Located = append(out.Located, Located{Type: o.Type, At: r, Parts: []Part{part}})
		if i+1 >= p.Limits.Objects {
			break
		}
	}
	p.bylines(&out)
	*set = out
	return true
}

// inRows finds the rows of the objects of a page's data, the first of which stands in one that is known: known[i] is that of rows[i], nil if
// the data have none of it. It reports whether each object is found: what the data say of one that is not must not be lost.
func (p *Page) inRows(objects []crawl.Object, rows []xpath.Ref, first xpath.Ref) (known []*crawl.Object, ok bool) {
	i := slices.Index(rows, first)
	if i < 0 || len(rows) < len(objects) {
		return nil, false
	}
	known = make([]*crawl.Object, len(rows))
	known[i] = &objects[0]
	for j := 1; j < len(objects); j++ {
		text := withoutTags(objects[j].Properties.Get("body"))
		if text == "" {
			text = withoutTags(objects[j].Properties.Get("summary"))
		}
		best, bytes := -1, 0
		for i, r := range rows {
			if known[i] == nil {
				if n := p.common(text, r); n > bytes { // of two that begin alike the first
					best, bytes = i, n
				}
			}
		}
		if best < 0 {
			return nil, false
		}
		known[best] = &objects[j]
	}
	return known, true
}

// common counts the bytes that a text and an element have in common from their beginnings on; 0 if the text does not begin with the first block
// of the element, or with hardly more of it than a greeting.
func (p *Page) common(text string, r xpath.Ref) (n int) {
	least := min(len(text), seedPrefix) / 2
	from, to := p.layout().blocks(p.Eval.Tree, r)
	if text == "" || from >= to || !begins(text, p.Doc.Blocks[from]) {
		return 0
	}
	for ; from < to && text != ""; from++ {
		block := p.Doc.Blocks[from]
		same := 0
		for same < min(len(text), len(block)) && text[same] == block[same] {
			same++
		}
		n += same
		if same < len(block) {
			break
		}
		text = strings.TrimLeft(text[same:], " \t\r\n")
	}
	if n < least {
		return 0
	}
	return n
}

// bylines gives the posts of a set their authors and dates by what stands beside their texts.
func (p *Page) bylines(set *Set) {
	at := make([]xpath.Ref, len(set.Located))
	for i := range set.Located {
		at[i] = set.Located[i].At
	}
	if rows := p.framesOf(at); rows != nil {
		p.byline(set.Objects, rows)
	}
}

// holder is the innermost element with a class that has a text, which the page's data have without its markup.
func (p *Page) holder(text string) (r xpath.Ref, ok bool) {
	l, tree := p.layout(), p.Eval.Tree
	text = withoutTags(text)
	cut := strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...")
	if cut {
		text = strings.TrimRight(text, "….")
	}
	words := countWords(text)
	for i, b := range p.Doc.Blocks {
		if i >= len(l.starts) || !begins(text, b) || l.size(i) < 3 && (i+1 >= len(l.starts) || !begins(strings.TrimSpace(text[min(len(b), len(text)):]), p.Doc.Blocks[i+1])) {
			continue
		}
		r, ok := tree.Parent(xpath.Ref{ID: l.starts[i], Attr: -1})
		for ; ok; r, ok = tree.Parent(r) {
			if n, _ := l.below(tree, r); 5*n >= 4*words && firstClass(tree.Node(r)) != "" {
				return r, cut || 2*n <= 3*words+20
			}
		}
	}
	return r, false
}

// withoutTags drops what stands in angle brackets: some applications write markup where a text belongs.
func withoutTags(s string) string {
	if !strings.HasPrefix(s, "<") {
		return s
	}
	var b strings.Builder
	for s != "" {
		from := strings.IndexByte(s, '<')
		if from < 0 {
			break
		}
		end := strings.IndexByte(s[from:], '>')
		if end < 0 {
			break
		}
		b.WriteString(s[:from])
		s = s[from+end+1:]
	}
	b.WriteString(s)
	return strings.Join(strings.Fields(b.String()), " ")
}

// begins reports whether a text begins with a block, or a block with the text, which may be cut off.
func begins(text, block string) bool {
	block = shorten(block, seedPrefix)
	return block != "" && strings.HasPrefix(text, block) || len(text) >= seedPrefix/4 && strings.HasPrefix(block, text)
}

// likeIt are the elements like one that stand in rows beside its own, in document order; of several kinds of rows those of which there are most.
func (p *Page) likeIt(at xpath.Ref) (best []xpath.Ref) {
	tree := p.Eval.Tree
	row := at
	for range maxClimb {
		n := tree.Node(row)
		if n.DataAtom == atom.Body || n.Parent == nil {
			break
		}
		var list []xpath.Ref
		above, up := tree.Parent(row)
		if !up {
			break
		}
		for id, end := above.ID+1, tree.End(above); id < end; {
			r := xpath.Ref{ID: id, Attr: -1}
			if alike(tree.Node(r), n) {
				if found, ok := p.within(r, tree.Node(at)); ok {
					list = append(list, found)
				}
			}
			id = max(tree.End(r), id+1)
		}
		if len(list) > len(best) {
			best = list
		}
		row = above
	}
	if len(best) < 2 {
		return nil
	}
	return best
}

// within is the first element like another in a row, or the row itself.
func (p *Page) within(row xpath.Ref, like *html.Node) (xpath.Ref, bool) {
	tree := p.Eval.Tree
	for id := row.ID; id < tree.End(row); id++ {
		if alike(tree.At(id), like) {
			return xpath.Ref{ID: id, Attr: -1}, true
		}
	}
	return row, false
}

// alike reports whether two elements have one name and one first class.
func alike(a, b *html.Node) bool {
	return a.Type == html.ElementNode && a.Data == b.Data && firstClass(a) != "" && firstClass(a) == firstClass(b)
}

func firstClass(n *html.Node) string {
	class := strings.TrimLeft(attr(n, "class"), " \t\r\n")
	if end := strings.IndexAny(class, " \t\r\n"); end >= 0 {
		class = class[:end]
	}
	return class
}

package extract

import (
	"iter"
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// framesOf are the rows around elements that repeat: the largest elements around each that hold none of the others, with what stands before
// each behind the one above it, such as a head in a row of its own. Nil: elements are not beside each other.
func (p *Page) framesOf(at []xpath.Ref) []row {
	tree := p.Eval.Tree
	if len(at) < 2 {
		return nil
	}
	rows := make([]row, len(at))
	for i := range at {
		r := p.frameOf(at, i)
		rows[i] = row{from: r.ID, to: tree.End(r), body: at[i]}
	}
	// what stands between two rows belongs to the second, and as many elements before the first to it; to the first of two if the last is followed by the same
	between := 0
	for i := range rows[1:] {
		if a, b := rows[i], &rows[i+1]; a.to > b.from {
			return nil
		} else if n := p.siblings(a.to, b.from); i == 0 || n < between {
			between = n
		}
	}
	if between > 0 && between <= maxHeads && p.followed(rows) {
		for i := range rows[1:] {
			if p.siblings(rows[i].to, rows[i+1].from) <= maxHeads {
				rows[i].to = rows[i+1].from
			}
		}
		last := &rows[len(rows)-1]
		for range between {
			if next, ok := p.behind(*last); ok {
				last.to = tree.End(next)
			}
		}
		return rows
	}
	first := xpath.Ref{ID: rows[0].from, Attr: -1}
	for i := len(rows) - 1; i > 0; i-- {
		if p.siblings(rows[i-1].to, rows[i].from) <= maxHeads {
			rows[i].from = rows[i-1].to
		}
	}
	if between > 0 && between <= maxHeads {
		if above, up := tree.Parent(first); up {
			starts := slices.Collect(p.filled(above.ID+1, rows[0].from))
			if len(starts) >= between {
				rows[0].from = starts[len(starts)-between]
			}
		}
	}
	return rows
}

// followed reports whether an element of one form stands behind the last of several rows as behind the first: the text of a post below its head.
func (p *Page) followed(rows []row) bool {
	a, ok := p.behind(rows[0])
	b, has := p.behind(rows[len(rows)-1])
	return ok && has && a.ID < rows[1].from && formOf(p.Eval.Tree.Node(a)) == formOf(p.Eval.Tree.Node(b))
}

// behind is the next element with something in it behind a row, in the element around the row.
func (p *Page) behind(r row) (next xpath.Ref, ok bool) {
	above, ok := p.Eval.Tree.Parent(xpath.Ref{ID: r.from, Attr: -1})
	if !ok {
		return next, false
	}
	for id := range p.filled(r.to, p.Eval.Tree.End(above)) {
		return xpath.Ref{ID: id, Attr: -1}, true
	}
	return next, false
}

// frameOf is the largest element around one of several that holds none of the others.
func (p *Page) frameOf(at []xpath.Ref, i int) xpath.Ref {
	tree, r := p.Eval.Tree, at[i]
	for depth := 0; depth < maxDepth; depth++ {
		above, up := tree.Parent(r)
		if !up || i > 0 && tree.Within(at[i-1], above) || i+1 < len(at) && tree.Within(at[i+1], above) {
			break
		}
		r = above
	}
	return r
}

// withAlike adds to elements that repeat the rows that have none such: elements beside their frames that are like most of these. A post of a
// damaged page, or of today, may have no day that can be read. Of rows that are added at holds the whole row, and days an ID of −1: a date in it may
// be one of its text.
func (p *Page) withAlike(repeated []xpath.Ref) (at, days []xpath.Ref) {
	tree := p.Eval.Tree
	if len(repeated) < 2 {
		return repeated, repeated
	}
	first := p.frameOf(repeated, 0)
	above, ok := tree.Parent(first)
	if !ok {
		return repeated, repeated
	}
	frames := map[int32]xpath.Ref{}
	for i := range repeated {
		r := p.frameOf(repeated, i)
		if up, _ := tree.Parent(r); up != above || !alike(tree.Node(r), tree.Node(first)) {
			return repeated, repeated
		}
		frames[r.ID] = repeated[i]
	}
	for id, end := above.ID+1, tree.End(above); id < end; {
		r := xpath.Ref{ID: id, Attr: -1}
		if known, has := frames[id]; has {
			at, days = append(at, known), append(days, known)
		} else if len(at) < maxColumnRows && alike(tree.Node(r), tree.Node(first)) && p.unlinked(r) >= rowWords {
			at, days = append(at, r), append(days, xpath.Ref{ID: -1, Attr: -1})
		}
		id = max(tree.End(r), id+1)
	}
	if !most(len(repeated), len(at)) {
		return repeated, repeated
	}
	return at, days
}

// maxHeads bounds the elements before a row that belong to it.
const maxHeads = 4

// siblings counts the elements with something in them from one node up to another.
func (p *Page) siblings(from, to int32) (n int) {
	for range p.filled(from, to) {
		n++
	}
	return n
}

// filled are the elements with something in them from one node up to another, and not those within these.
func (p *Page) filled(from, to int32) iter.Seq[int32] {
	tree := p.Eval.Tree
	return func(yield func(int32) bool) {
		for id := from; id < to; id = max(tree.End(xpath.Ref{ID: id, Attr: -1}), id+1) {
			if n := tree.At(id); (len(n.Attr) > 0 || n.FirstChild != nil) && !yield(id) {
				return
			}
		}
	}
}

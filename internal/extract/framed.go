package extract

import (
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
	for i, r := range at {
		for depth := 0; depth < maxDepth; depth++ {
			above, up := tree.Parent(r)
			if !up || i > 0 && tree.Within(at[i-1], above) || i+1 < len(at) && tree.Within(at[i+1], above) {
				break
			}
			r = above
		}
		rows[i] = row{from: r.ID, to: tree.End(r), body: at[i]}
	}
	// what stands between two rows belongs to the second; before the first, as many elements
	between := 0
	for i := range rows[1:] {
		if a, b := rows[i], &rows[i+1]; a.to > b.from {
			return nil
		} else if n := p.siblings(a.to, b.from); i == 0 || n < between {
			between = n
		}
	}
	first := xpath.Ref{ID: rows[0].from, Attr: -1}
	for i := len(rows) - 1; i > 0; i-- {
		if p.siblings(rows[i-1].to, rows[i].from) <= maxHeads {
			rows[i].from = rows[i-1].to
		}
	}
	if between > 0 && between <= maxHeads {
		if above, up := tree.Parent(first); up {
			var starts []int32
			for id := above.ID + 1; id < rows[0].from; id = max(tree.End(xpath.Ref{ID: id, Attr: -1}), id+1) {
				if len(tree.At(id).Attr) > 0 || tree.At(id).FirstChild != nil {
					starts = append(starts, id)
				}
			}
			if len(starts) >= between {
				rows[0].from = starts[len(starts)-between]
			}
		}
	}
	return rows
}

// maxHeads bounds the elements before a row that belong to it.
const maxHeads = 4

// siblings counts the elements with something in them from one node up to another.
func (p *Page) siblings(from, to int32) (n int) {
	tree := p.Eval.Tree
	for id := from; id < to; id = max(tree.End(xpath.Ref{ID: id, Attr: -1}), id+1) {
		if len(tree.At(id).Attr) > 0 || tree.At(id).FirstChild != nil {
			n++
		}
	}
	return n
}

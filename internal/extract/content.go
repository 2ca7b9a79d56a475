package extract

import (
	"cmp"
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// MarkContent marks the text blocks that stand in the bodies of objects: the topic is looked for in those. It returns nil if
// there are none.
func (p *Page) MarkContent(objects []Located) []bool {
	d, bodies := p.Doc, bodies(objects)
	if len(bodies) == 0 || len(d.Starts) != len(d.Blocks) {
		return nil
	}
	tree := p.Eval.Tree
	content := make([]bool, len(d.Blocks))
	next, any := 0, false
	for id := int32(0); int(id) < tree.Len() && next < len(content); id++ {
		for next < len(content) && tree.At(id) == d.Starts[next] {
			for i := range bodies {
				if bodies[i].holds(tree, xpath.Ref{ID: id, Attr: -1}) {
					content[next], any = true, true
				}
			}
			next++
		}
	}
	if !any {
		return nil
	}
	return content
}

// bodies are the texts of objects that stand in elements.
func bodies(objects []Located) (list []Part) {
	for _, l := range objects {
		for _, p := range l.Parts {
			if p.Name == "body" && p.At.Attr < 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// holds reports whether a node stands in a part, and in nothing that is left out of it.
func (p *Part) holds(tree *xpath.Tree, r xpath.Ref) bool {
	if !tree.Within(r, p.At) {
		return false
	}
	if p.Whole {
		return true
	}
	within := func(outer xpath.Ref) bool { return tree.Within(r, outer) }
	return !slices.ContainsFunc(p.Out, within) && !slices.ContainsFunc(p.Clean, within)
}

// leftOut are the elements that do not belong to a part, in document order.
func (p *Part) leftOut() []xpath.Ref {
	if len(p.Clean) == 0 {
		return p.Out
	}
	all := slices.Concat(p.Out, p.Clean)
	slices.SortFunc(all, func(a, b xpath.Ref) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

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

// Listed marks the text blocks that are content of a page that lists others, of which those in bodies are known: the entries, or, if the
// bodies are a small part of what the page lists, all that it lists.
func (p *Page) Listed(objects []Located, bodies []bool) []bool {
	if marks := p.entries(objects); marks != nil {
		return marks
	}
	l, known := p.layout(), 0
	for i := range min(len(bodies), len(l.roles)) {
		if bodies[i] {
			known += l.gained(i, i+1)
		}
	}
	if 2*known > l.gained(0, len(l.roles)) {
		return bodies
	}
	marks := p.Segments(true)
	for i := range marks {
		marks[i] = marks[i] || i < len(bodies) && bodies[i]
	}
	if marks == nil {
		return bodies
	}
	return marks
}

// entries marks the text blocks that are titles of the entries of a list, where rules know the entries and these hold most of what the page
// lists; and of their other blocks the long ones, which are teasers. It returns nil elsewhere.
func (p *Page) entries(objects []Located) []bool {
	l, tree := p.layout(), p.Eval.Tree
	if len(objects) < manyParts || len(l.starts) == 0 {
		return nil
	}
	marks, listed, all, entries, bare, covered := make([]bool, len(l.starts)), 0, l.gained(0, len(l.roles)), 0, true, 0
	for _, o := range objects {
		if !titleOnly[o.Type] {
			return nil
		}
		titled := p.markTitle(&o, marks)
		if titled == 0 {
			continue
		}
		entries++
		from, to := l.blocks(tree, o.At)
		bare = bare && to-from <= titled
		listed += l.gained(max(from, covered), to)
		for i := max(from, covered); i < to; i++ {
			marks[i] = marks[i] || l.roles[i] == Main && l.size(i) >= teaserWords
		}
		covered = max(covered, to)
	}
	marked := 0
	for i, m := range marks {
		if m {
			marked += l.size(i)
		}
	}
	if entries < manyParts || !bare && 2*listed <= all || bareShare*marked < all {
		return nil
	}
	return marks
}

// markTitle marks the blocks of the title and the description of an object, and returns how many the title has.
func (p *Page) markTitle(o *Located, marks []bool) (titled int) {
	l, tree := p.layout(), p.Eval.Tree
	for _, q := range o.Parts {
		if q.Name != "title" && q.Name != "summary" || q.At.Attr >= 0 {
			continue
		}
		from, to := l.blocks(tree, q.At)
		if above, ok := tree.Parent(q.At); ok && from == to && from > 0 && l.starts[from-1] >= above.ID {
			from-- // words before it are in its block
		}
		for i := from; i < to; i++ {
			marks[i] = true
		}
		if q.Name == "title" {
			titled += to - from
		}
	}
	return titled
}

// titleOnly are the types whose lists have a title and little else for each: its author, numbers and dates.
var titleOnly = map[string]bool{"thread": true, "forum": true}

// bareShare: of titles alone, one in so many words of what the page lists must be in them.
const bareShare = 12

// teaserWords is the least of a block in an entry that is a teaser of it, and not a remark on who wrote it when.
const teaserWords = 12

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

package xpath

import (
	"strings"

	"golang.org/x/net/html"
)

// alongAxis yields the nodes on an axis that pass the node test, nearest first.
func (e *Eval) alongAxis(s *Step, from Ref, yield func(Ref) bool) bool {
	t := e.Tree
	if s.Axis == Attribute {
		return e.attributes(s, from, yield)
	}
	if from.Attr >= 0 {
		switch s.Axis {
		case Self:
			return s.Test != "node()" || yield(from)
		case DescendantOrSelf:
			return s.Test != "node()" || yield(from)
		case Following: // what its element holds too
			return e.scan(s, from.ID+1, int32(len(e.Tree.nodes)), yield)
		case Parent, Ancestor, AncestorOrSelf, Preceding:
		default:
			return true
		}
	}
	id := from.ID
	switch s.Axis {
	case Self:
		return e.test(s, id, yield)
	case Child:
		for c := id + 1; c < t.end[id]; c = t.end[c] {
			if !e.test(s, c, yield) {
				return false
			}
		}
	case Descendant, DescendantOrSelf:
		if s.Axis == DescendantOrSelf && !e.test(s, id, yield) {
			return false
		}
		return e.scan(s, id+1, t.end[id], yield)
	case Parent:
		if from.Attr >= 0 {
			return e.test(s, id, yield)
		}
		return t.parent[id] < 0 || e.test(s, t.parent[id], yield)
	case Ancestor, AncestorOrSelf:
		if s.Axis == AncestorOrSelf && from.Attr >= 0 {
			if s.Test == "node()" && !yield(from) {
				return false
			}
		}
		if s.Axis == Ancestor && from.Attr < 0 {
			id = t.parent[id]
		}
		for ; id >= 0; id = t.parent[id] {
			if !e.test(s, id, yield) {
				return false
			}
		}
	case FollowingSibling:
		if p := t.parent[id]; p >= 0 {
			for c := t.end[id]; c < t.end[p]; c = t.end[c] {
				if !e.test(s, c, yield) {
					return false
				}
			}
		}
	case PrecedingSibling:
		return e.before(s, id, yield)
	case Following:
		return e.scan(s, t.end[id], int32(len(t.nodes)), yield)
	case Preceding:
		above := t.parent[id]
		for c := id - 1; c >= 0; c-- {
			if c == above {
				above = t.parent[c]
				e.pay(1)
				continue
			}
			if !e.test(s, c, yield) {
				return false
			}
		}
	}
	return true
}

func (e *Eval) before(s *Step, id int32, yield func(Ref) bool) bool {
	t := e.Tree
	p := t.parent[id]
	for c := id - 1; p >= 0 && c > p; c-- { // the last node that stands in the sibling before
		for t.parent[c] != p {
			c = t.parent[c]
			e.pay(1)
		}
		if !e.test(s, c, yield) {
			return false
		}
	}
	return true
}

// scan tests the nodes of a range: most of the work of most rules.
func (e *Eval) scan(s *Step, begin, end int32, yield func(Ref) bool) bool {
	t, paid := e.Tree, begin
	hit := func(id int32) bool {
		e.pay(int(id - paid + 1))
		paid = id + 1
		return yield(Ref{id, -1})
	}
	switch {
	case begin >= end || !t.pageMayHave(s.sieves):
	case s.atom != 0:
		for i, kind := range t.atoms[begin:end] {
			if id := begin + int32(i); kind == s.atom && t.passesAny(s.sieves, id) && !hit(id) {
				return false
			}
		}
	case s.Test == "*" && len(s.sieves) == 1: // as most
		only := s.sieves[0]
		classes, attrs := t.bits[begin:end], t.attrs[begin:end]
		for i, kind := range t.atoms[begin:end] {
			if kind != noElement && only.holds(kind, classes[i], attrs[i]) && !hit(begin+int32(i)) {
				return false
			}
		}
	case s.Test == "*":
		for i, kind := range t.atoms[begin:end] {
			if id := begin + int32(i); kind != noElement && t.passesAny(s.sieves, id) && !hit(id) {
				return false
			}
		}
	default:
		for id := begin; id < end; id++ {
			if t.passes(s, id) && !hit(id) {
				return false
			}
		}
	}
	e.pay(int(end - paid))
	return true
}

// passesAny reports whether one of the ways in which predicates may be true is open to a node.
func (t *Tree) passesAny(ways []sieve, id int32) bool {
	for i := range ways {
		if ways[i].holds(t.atoms[id], t.bits[id], t.attrs[id]) {
			return true
		}
	}
	return len(ways) == 0
}

// pageMayHave reports whether the page has what one of the ways asks for.
func (t *Tree) pageMayHave(ways []sieve) bool {
	for i := range ways {
		if t.all&ways[i].attrs == ways[i].attrs && t.hasToken(ways[i].token) {
			return true
		}
	}
	return len(ways) == 0
}

func (e *Eval) test(s *Step, id int32, yield func(Ref) bool) bool {
	e.pay(1)
	return !e.Tree.passes(s, id) || yield(Ref{id, -1})
}

func (t *Tree) passes(s *Step, id int32) bool {
	switch s.Test {
	case "node()":
		return t.parent[id] != 0 || t.nodes[id].Type != html.DoctypeNode // which XPath does not know
	case "*":
		return t.atoms[id] != noElement
	case "text()":
		return t.nodes[id].Type == html.TextNode
	case "comment()":
		return t.nodes[id].Type == html.CommentNode
	}
	if s.atom != 0 {
		return t.atoms[id] == s.atom
	}
	return t.atoms[id] == otherElement && (t.nodes[id].Data == s.Test || t.nodes[id].Namespace != "" && strings.EqualFold(t.nodes[id].Data, s.Test))
}

func (e *Eval) attributes(s *Step, from Ref, yield func(Ref) bool) bool {
	n := e.Tree.nodes[from.ID]
	if from.Attr >= 0 || n.Type != html.ElementNode {
		return true
	}
	e.pay(1 + len(n.Attr))
	for i := range n.Attr {
		if s.Test == "*" || s.Test == "node()" {
			if !yield(Ref{from.ID, int32(i)}) {
				return false
			}
		} else if hasName(&n.Attr[i], s.Test) {
			return yield(Ref{from.ID, int32(i)}) // browsers drop a second of the same name
		}
	}
	return true
}

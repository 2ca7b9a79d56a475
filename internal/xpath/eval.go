package xpath

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// DefaultBudget is what evaluating the expressions of one page may cost, in nodes looked at: some tens of
// milliseconds. 64 bytes of text count as a node.
const DefaultBudget = 8 << 20

// ErrBudget reports that an expression would have cost more than the page's budget.
var ErrBudget = errors.New("the expression looks at more nodes of the page than it may")

// Eval evaluates expressions on one page. It is for one goroutine at a time.
type Eval struct {
	Tree   *Tree
	Budget int // what is left
	free   [][]Ref
}

var evals = sync.Pool{New: func() any { return &Eval{Tree: &Tree{}} }}

// NewEval flattens a page and gives it a budget. Free gives its memory back.
func NewEval(root *html.Node, budget int) *Eval {
	e := evals.Get().(*Eval)
	e.Tree.Reset(root)
	e.Budget = budget
	return e
}

// Free ends the use of an Eval and of the references it gave.
func (e *Eval) Free() {
	if cap(e.Tree.nodes) <= 1<<17 {
		clear(e.Tree.nodes)
		if cap(e.Tree.text) > 1<<20 {
			e.Tree.text = nil
		}
		evals.Put(e)
	}
}

// Select returns the nodes that an expression selects, in document order, at most limit of them (0: all).
// The error is ErrBudget.
func (e *Eval) Select(x *Expr, at Ref, limit int) (found []Ref, err error) {
	if e.Budget < 0 {
		return nil, ErrBudget
	}
	defer e.spent(&err)
	e.nodes(x.Root, context{e, at, 1, 1}, limit, func(r Ref) { found = append(found, r) })
	return found, nil
}

// First returns the first node that an expression selects. The error is ErrBudget.
func (e *Eval) First(x *Expr, at Ref) (first Ref, found bool, err error) {
	if e.Budget < 0 {
		return first, false, ErrBudget
	}
	defer e.spent(&err)
	e.nodes(x.Root, context{e, at, 1, 1}, 1, func(r Ref) { first, found = r, true })
	return first, found, nil
}

// Within runs fn with at most so many nodes of the budget. What fn does not use stays.
func (e *Eval) Within(nodes int, fn func()) {
	rest := e.Budget - nodes
	if rest <= 0 {
		fn()
		return
	}
	e.Budget = nodes
	defer func() { e.Budget = max(e.Budget, 0) + rest }()
	fn()
}

// Pay takes nodes from the budget that the caller looks at by itself.
func (e *Eval) Pay(nodes int) { e.Budget -= nodes }

func (e *Eval) spent(err *error) {
	if r := recover(); r != nil {
		if r != ErrBudget { // the very value
			panic(r)
		}
		*err = ErrBudget
	}
}

func (e *Eval) pay(n int) {
	if e.Budget -= n; e.Budget < 0 {
		panic(ErrBudget)
	}
}

// context is where a part of an expression is evaluated.
type context struct {
	*Eval
	at        Ref
	pos, size int
}

func (e *Eval) buffer() []Ref {
	if n := len(e.free); n > 0 {
		b := e.free[n-1]
		e.free = e.free[:n-1]
		return b[:0]
	}
	return make([]Ref, 0, 64)
}

func (e *Eval) give(b []Ref) {
	if cap(b) <= 1<<17 {
		e.free = append(e.free, b)
	}
}

// nodes yields the nodes that n selects, in document order, each once.
func (e *Eval) nodes(n Node, c context, limit int, yield func(Ref)) {
	switch n := n.(type) {
	case *Path:
		if n.From == nil && ordered(n.Steps) {
			count := 0
			start := c.at
			if n.Absolute {
				start = e.Tree.Root()
			}
			e.walk(n.Steps, start, func(r Ref) bool {
				yield(r)
				count++
				return count != limit
			})
			return
		}
		set := e.path(n, c)
		for i, r := range set {
			if limit > 0 && i == limit {
				break
			}
			yield(r)
		}
		e.give(set)
	case *Binary:
		if n.Op != "|" {
			return
		}
		set := e.buffer()
		e.nodes(n.Left, c, 0, func(r Ref) { set = append(set, r) })
		e.nodes(n.Right, c, 0, func(r Ref) { set = append(set, r) })
		set = e.order(set)
		for i, r := range set {
			if limit > 0 && i == limit {
				break
			}
			yield(r)
		}
		e.give(set)
	}
}

// ordered reports whether walking the steps meets every node once and in document order: all go down, one
// at most deeper than to the children, and nothing behind that one leads from nested nodes to their children
// in another order.
func ordered(steps []*Step) bool {
	deep := 0
	for i, s := range steps {
		if !s.Axis.down() || s.positional && s.Axis != Child {
			return false
		}
		if s.Axis == Descendant || s.Axis == DescendantOrSelf {
			deep++
			for _, later := range steps[i+1:] {
				if later.Axis != Attribute && later.Axis != Self {
					return false
				}
			}
		}
	}
	return deep <= 1
}

// walk yields what the steps lead to from a node, depth first; false from yield ends it.
func (e *Eval) walk(steps []*Step, from Ref, yield func(Ref) bool) bool {
	if len(steps) == 0 {
		return yield(from)
	}
	s, rest := steps[0], steps[1:]
	if s.positional {
		set := e.step(s, from, e.buffer())
		defer func() { e.give(set) }()
		for _, r := range set {
			if !e.walk(rest, r, yield) {
				return false
			}
		}
		return true
	}
	return e.alongAxis(s, from, func(r Ref) bool {
		if !e.holds(s.Preds, r) {
			return true
		}
		if len(rest) == 0 {
			return yield(r)
		}
		return e.walk(rest, r, yield)
	})
}

// holds reports whether predicates that ask for no position are true of a node.
func (e *Eval) holds(preds []Node, r Ref) bool {
	for _, p := range preds {
		if !e.truth(p, context{e, r, 1, 1}) {
			return false
		}
	}
	return true
}

// path evaluates step by step; the result lies in a buffer of the Eval.
func (e *Eval) path(p *Path, c context) []Ref {
	set := e.buffer()
	switch {
	case p.From != nil:
		e.nodes(p.From, c, 0, func(r Ref) { set = append(set, r) })
		set = e.filter(p.Filter, set)
	case p.Absolute:
		set = append(set, e.Tree.Root())
	default:
		set = append(set, c.at)
	}
	for _, s := range p.Steps {
		next, covered := e.buffer(), int32(0)
		for _, r := range set {
			if r.Attr < 0 && !s.positional && (s.Axis == Descendant || s.Axis == DescendantOrSelf) {
				if r.ID < covered { // stands below another, whose descendants are its own too
					continue
				}
				covered = e.Tree.end[r.ID]
			}
			next = e.step(s, r, next)
		}
		e.give(set)
		if set = next; len(set) > 1 {
			set = e.order(set)
		}
	}
	return set
}

// order sorts nodes and leaves out repeats.
func (e *Eval) order(set []Ref) []Ref {
	e.pay(len(set) * bits.Len(uint(len(set))) / 4)
	slices.SortFunc(set, func(a, b Ref) int {
		if a.ID != b.ID {
			return int(a.ID - b.ID)
		}
		return int(a.Attr - b.Attr)
	})
	return slices.Compact(set)
}

// step appends what one step selects from one node.
func (e *Eval) step(s *Step, from Ref, out []Ref) []Ref {
	begin, enough := len(out), 1<<31
	if s.positional {
		if n, is := s.Preds[0].(Number); is { // nothing behind that place is asked for
			enough = max(1, int(min(n, 1<<20)))
		}
	}
	e.alongAxis(s, from, func(r Ref) bool {
		if s.positional || e.holds(s.Preds, r) {
			out = append(out, r)
		}
		return len(out)-begin < enough
	})
	if s.positional {
		out = out[:begin+len(e.filter(s.Preds, out[begin:]))]
	}
	return out
}

// filter keeps, in place, the nodes of which all predicates are true; positions count as the nodes stand.
func (e *Eval) filter(preds []Node, set []Ref) []Ref {
	for _, p := range preds {
		kept := set[:0]
		for i, r := range set {
			c := context{e, r, i + 1, len(set)}
			if v, ok := e.number(p, c); ok && int(v) == i+1 && float64(int(v)) == v || !ok && e.truth(p, c) {
				kept = append(kept, r)
			}
		}
		set = kept
	}
	return set
}

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

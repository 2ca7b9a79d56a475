package xpath

import (
	"errors"
	"math/bits"
	"slices"
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

func (e *Eval) releaseBuffer(b []Ref) {
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
		e.releaseBuffer(set)
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
		e.releaseBuffer(set)
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
		defer func() { e.releaseBuffer(set) }()
		for _, r := range set {
			if !e.walk(rest, r, yield) {
				return false
			}
		}
		return true
	}
	return e.alongAxis(s, from, func(r Ref) bool {
		if !e.allTrue(s.Preds, r) {
			return true
		}
		if len(rest) == 0 {
			return yield(r)
		}
		return e.walk(rest, r, yield)
	})
}

// allTrue reports whether predicates that ask for no position are true of a node.
func (e *Eval) allTrue(preds []Node, r Ref) bool {
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
		e.releaseBuffer(set)
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
		if s.positional || e.allTrue(s.Preds, r) {
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

package xpath

import (
	"math"
	"slices"
	"strings"
)

// truth is the boolean value (XPath 1.0 §4.3).
func (e *Eval) truth(n Node, c context) bool {
	e.pay(1)
	switch n := n.(type) {
	case Literal:
		return n != ""
	case Number:
		return n != 0 && !math.IsNaN(float64(n))
	case *Path:
		if a := attrOf(n); a != "" && c.at.Attr < 0 {
			_, found := e.attr(c, a)
			return found
		}
		return e.exists(n, c)
	case *Binary:
		switch n.Op {
		case "or":
			return e.truth(n.Left, c) || e.truth(n.Right, c)
		case "and":
			return e.truth(n.Left, c) && e.truth(n.Right, c)
		case "|":
			return e.exists(n, c)
		case "+", "-", "*", "div", "mod":
			v := e.float(n, c)
			return v != 0 && !math.IsNaN(v)
		}
		return e.compare(n, c)
	case *Call:
		return e.callTruth(n, c)
	}
	return false
}

func (e *Eval) callTruth(n *Call, c context) bool {
	switch n.Name {
	case "has-class":
		if e.Tree.bits[c.at.ID]&n.bits != n.bits || c.at.Attr >= 0 {
			return false
		}
		list, _ := e.attr(c, "class")
		for _, class := range n.classes {
			if !hasClass(list, class) {
				return false
			}
		}
		return true
	case "not":
		return !e.truth(n.Args[0], c)
	case "boolean":
		return e.truth(n.Args[0], c)
	case "true":
		return true
	case "false":
		return false
	case "contains":
		in, what := e.text(n.Args[0], c), e.text(n.Args[1], c)
		e.pay(len(in)/64 + min(len(in), len(what))/4)
		return strings.Contains(in, what)
	case "starts-with":
		return strings.HasPrefix(e.text(n.Args[0], c), e.text(n.Args[1], c))
	case "ends-with":
		return strings.HasSuffix(e.text(n.Args[0], c), e.text(n.Args[1], c))
	case "matches":
		in := e.text(n.Args[0], c)
		e.pay(len(in) * n.cost / 8)
		return n.pattern.MatchString(in)
	}
	if functions[n.Name].result == aNumber {
		v := e.float(n, c)
		return v != 0 && !math.IsNaN(v)
	}
	return e.text(n, c) != ""
}

// compare follows XPath 1.0 §3.4: of nodes any may make it true.
func (e *Eval) compare(n *Binary, c context) bool {
	lk, lNodes := typeOf(n.Left)
	rk, rNodes := typeOf(n.Right)
	switch {
	case lNodes && rNodes:
		return e.nodesWithNodes(n, c)
	case lNodes:
		return e.nodesWith(n.Left, n.Op, n.Right, rk, c)
	case rNodes:
		return e.nodesWith(n.Right, mirroredOp(n.Op), n.Left, lk, c)
	case n.Op != "=" && n.Op != "!=":
		return compareNumbers(n.Op, e.float(n.Left, c), e.float(n.Right, c))
	case lk == aTruth || rk == aTruth:
		return (e.truth(n.Left, c) == e.truth(n.Right, c)) == (n.Op == "=")
	case lk == aNumber || rk == aNumber:
		return compareNumbers(n.Op, e.float(n.Left, c), e.float(n.Right, c))
	}
	return (e.text(n.Left, c) == e.text(n.Right, c)) == (n.Op == "=")
}

func (e *Eval) nodesWithNodes(n *Binary, c context) bool {
	right := e.values(n.Right, c)
	if n.Op == "=" || n.Op == "!=" {
		return e.anyValue(n.Left, c, func(l string) bool {
			e.pay(len(right) / 4)
			return slices.ContainsFunc(right, func(r string) bool { return (l == r) == (n.Op == "=") })
		})
	}
	values := make([]float64, len(right))
	for i, r := range right {
		values[i] = toNumber(r)
	}
	return e.anyValue(n.Left, c, func(l string) bool {
		e.pay(len(values) / 4)
		v := toNumber(l)
		return slices.ContainsFunc(values, func(r float64) bool { return compareNumbers(n.Op, v, r) })
	})
}

func (e *Eval) nodesWith(nodes Node, op string, other Node, k kindOf, c context) bool {
	switch {
	case k == aTruth:
		l, r := e.truth(nodes, c), e.truth(other, c)
		if op == "=" || op == "!=" {
			return (l == r) == (op == "=")
		}
		return compareNumbers(op, boolToNumber(l), boolToNumber(r))
	case k == aNumber || op != "=" && op != "!=":
		r := e.float(other, c)
		return e.anyValue(nodes, c, func(l string) bool { return compareNumbers(op, toNumber(l), r) })
	}
	r := e.text(other, c)
	return e.anyValue(nodes, c, func(l string) bool { return (l == r) == (op == "=") })
}

// anyValue reports whether a test holds for the value of any node.
func (e *Eval) anyValue(nodes Node, c context, test func(string) bool) bool {
	if a := attrOf(nodes); a != "" && c.at.Attr < 0 {
		v, found := e.attr(c, a)
		return found && test(v)
	}
	for _, v := range e.values(nodes, c) {
		if test(v) {
			return true
		}
	}
	return false
}

func mirroredOp(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return op
}

func compareNumbers(op string, l, r float64) bool {
	switch op {
	case "=":
		return l == r
	case "!=":
		return l != r
	case "<":
		return l < r
	case "<=":
		return l <= r
	case ">":
		return l > r
	}
	return l >= r
}

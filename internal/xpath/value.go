package xpath

type kindOf uint8

const (
	aString kindOf = iota
	aNumber
	aTruth
)

type function struct {
	least, most int // arguments
	result      kindOf
}

var functions = map[string]function{
	"boolean": {1, 1, aTruth}, "not": {1, 1, aTruth}, "true": {0, 0, aTruth}, "false": {0, 0, aTruth},
	"contains": {2, 2, aTruth}, "starts-with": {2, 2, aTruth}, "ends-with": {2, 2, aTruth}, "matches": {2, 2, aTruth}, "has-class": {1, 8, aTruth},
	"string": {0, 1, aString}, "concat": {2, 16, aString}, "substring": {2, 3, aString}, "substring-before": {2, 2, aString},
	"substring-after": {2, 2, aString}, "normalize-space": {0, 1, aString}, "translate": {3, 3, aString},
	"lower-case": {1, 1, aString}, "upper-case": {1, 1, aString}, "name": {0, 1, aString}, "local-name": {0, 1, aString},
	"number": {0, 1, aNumber}, "string-length": {0, 1, aNumber}, "count": {1, 1, aNumber}, "sum": {1, 1, aNumber},
	"floor": {1, 1, aNumber}, "ceiling": {1, 1, aNumber}, "round": {1, 1, aNumber}, "position": {0, 0, aNumber}, "last": {0, 0, aNumber},
}

// typeOf reports what an expression computes; nodes if it selects.
func typeOf(n Node) (k kindOf, nodes bool) {
	switch n := n.(type) {
	case Literal:
		return aString, false
	case Number:
		return aNumber, false
	case *Call:
		return functions[n.Name].result, false
	case *Binary:
		switch n.Op {
		case "|":
			return aString, true
		case "+", "-", "*", "div", "mod":
			return aNumber, false
		}
		return aTruth, false
	}
	return aString, true
}

// number evaluates what is a number by its type; false if it is none.
func (e *Eval) number(n Node, c context) (float64, bool) {
	if k, nodes := typeOf(n); nodes || k != aNumber {
		return 0, false
	}
	return e.float(n, c), true
}

// exists reports whether an expression selects anything, in whatever order.
func (e *Eval) exists(n Node, c context) (found bool) {
	if p, ok := n.(*Path); ok && p.From == nil {
		start := c.at
		if p.Absolute {
			start = e.Tree.Root()
		}
		return !e.walk(p.Steps, start, func(Ref) bool { return false })
	}
	e.nodes(n, c, 1, func(Ref) { found = true })
	return found
}

func (e *Eval) values(nodes Node, c context) (out []string) {
	e.nodes(nodes, c, 0, func(r Ref) { out = append(out, e.value(r)) })
	return out
}

func (e *Eval) value(r Ref) string {
	if r.Attr < 0 {
		e.pay(int(e.Tree.end[r.ID]-r.ID) / 2)
	}
	v := e.Tree.Value(r)
	e.pay(len(v)/64 + 1)
	return v
}

// attr returns an attribute of the context, which is none itself.
func (e *Eval) attr(c context, name string) (value string, found bool) {
	n := e.Tree.nodes[c.at.ID]
	value, found = attribute(n, name)
	e.pay(len(n.Attr)/8 + len(value)/64)
	return value, found
}

// onlyArgument is the value of a function's only argument, of the context if there is none.
func (e *Eval) onlyArgument(n *Call, c context) string {
	if len(n.Args) == 0 {
		return e.value(c.at)
	}
	return e.text(n.Args[0], c)
}

// payText pays for a function that goes through each character of a string.
func (e *Eval) payText(s string) string {
	e.pay(len(s) / 8)
	return s
}

func (e *Eval) firstValue(n Node, c context) (v string) {
	e.nodes(n, c, 1, func(r Ref) { v = e.value(r) })
	return v
}

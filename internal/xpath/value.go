package xpath

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
		return e.nodesWith(n.Right, mirror(n.Op), n.Left, lk, c)
	case n.Op != "=" && n.Op != "!=":
		return numbers(n.Op, e.float(n.Left, c), e.float(n.Right, c))
	case lk == aTruth || rk == aTruth:
		return (e.truth(n.Left, c) == e.truth(n.Right, c)) == (n.Op == "=")
	case lk == aNumber || rk == aNumber:
		return numbers(n.Op, e.float(n.Left, c), e.float(n.Right, c))
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
		return slices.ContainsFunc(values, func(r float64) bool { return numbers(n.Op, v, r) })
	})
}

func (e *Eval) nodesWith(nodes Node, op string, other Node, k kindOf, c context) bool {
	switch {
	case k == aTruth:
		l, r := e.truth(nodes, c), e.truth(other, c)
		if op == "=" || op == "!=" {
			return (l == r) == (op == "=")
		}
		return numbers(op, fromTruth(l), fromTruth(r))
	case k == aNumber || op != "=" && op != "!=":
		r := e.float(other, c)
		return e.anyValue(nodes, c, func(l string) bool { return numbers(op, toNumber(l), r) })
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

func mirror(op string) string {
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

func numbers(op string, l, r float64) bool {
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

func fromTruth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

// toNumber reads a number as XPath 1.0 §4.4 does: digits, a point and a minus, nothing else.
func toNumber(s string) float64 {
	s = strings.Trim(s, " \t\r\n")
	for i := range len(s) {
		if c := s[i]; !digit(c) && c != '.' && (c != '-' || i > 0) {
			return math.NaN()
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// float is the number value (§4.4).
func (e *Eval) float(n Node, c context) float64 {
	e.pay(1)
	switch n := n.(type) {
	case Number:
		return float64(n)
	case *Binary:
		switch n.Op {
		case "+":
			return e.float(n.Left, c) + e.float(n.Right, c)
		case "-":
			return e.float(n.Left, c) - e.float(n.Right, c)
		case "*":
			return e.float(n.Left, c) * e.float(n.Right, c)
		case "div":
			return e.float(n.Left, c) / e.float(n.Right, c)
		case "mod":
			return math.Mod(e.float(n.Left, c), e.float(n.Right, c))
		}
	case *Call:
		switch n.Name {
		case "position":
			return float64(c.pos)
		case "last":
			return float64(c.size)
		case "count":
			count := 0
			e.nodes(n.Args[0], c, 0, func(Ref) { count++ })
			return float64(count)
		case "sum":
			sum := 0.0
			for _, v := range e.values(n.Args[0], c) {
				sum += toNumber(v)
			}
			return sum
		case "string-length":
			return float64(utf8.RuneCountInString(e.payText(e.onlyArgument(n, c))))
		case "floor":
			return math.Floor(e.float(n.Args[0], c))
		case "ceiling":
			return math.Ceil(e.float(n.Args[0], c))
		case "round":
			return math.Floor(e.float(n.Args[0], c) + .5)
		case "number":
			if len(n.Args) == 1 {
				return e.float(n.Args[0], c)
			}
			return toNumber(e.value(c.at))
		}
	}
	if k, nodes := typeOf(n); !nodes && k == aTruth {
		return fromTruth(e.truth(n, c))
	}
	return toNumber(e.text(n, c))
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

// text is the string value (§4.2): of nodes that of the first.
func (e *Eval) text(n Node, c context) string {
	e.pay(1)
	switch n := n.(type) {
	case Literal:
		return string(n)
	case *Path:
		if a := attrOf(n); a != "" && c.at.Attr < 0 {
			v, _ := e.attr(c, a)
			return v
		}
		if len(n.Steps) == 1 && n.From == nil && !n.Absolute && n.Steps[0].Axis == Self && n.Steps[0].Test == "node()" {
			return e.value(c.at)
		}
		return e.firstValue(n, c)
	case *Call:
		return e.callText(n, c)
	case *Binary:
		if n.Op == "|" {
			return e.firstValue(n, c)
		}
	}
	if k, _ := typeOf(n); k == aTruth {
		return strconv.FormatBool(e.truth(n, c))
	}
	return writeNumber(e.float(n, c))
}

func (e *Eval) firstValue(n Node, c context) (v string) {
	e.nodes(n, c, 1, func(r Ref) { v = e.value(r) })
	return v
}

// normalizeSpace has one blank for each run of space, and none at the ends.
func normalizeSpace(s string) string {
	for len(s) > 0 && space(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && space(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	good := 0 // so far nothing is to be changed
	for good < len(s) && (!space(s[good]) || s[good] == ' ' && !space(s[good+1])) {
		good++
	}
	if good == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:good]...)
	for i := good; i < len(s); i++ {
		if !space(s[i]) {
			out = append(out, s[i])
		} else if out[len(out)-1] != ' ' {
			out = append(out, ' ')
		}
	}
	return string(out)
}

func writeNumber(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == 0: // -0 too
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (e *Eval) callText(n *Call, c context) string {
	switch n.Name {
	case "string":
		return e.onlyArgument(n, c)
	case "concat":
		var b strings.Builder
		for _, a := range n.Args {
			s := e.text(a, c)
			e.pay(len(s) / 64)
			b.WriteString(s)
		}
		return b.String()
	case "normalize-space":
		return normalizeSpace(e.payText(e.onlyArgument(n, c)))
	case "lower-case":
		return strings.ToLower(e.payText(e.text(n.Args[0], c)))
	case "upper-case":
		return strings.ToUpper(e.payText(e.text(n.Args[0], c)))
	case "substring-before":
		before, _, found := strings.Cut(e.payText(e.text(n.Args[0], c)), e.text(n.Args[1], c))
		if !found {
			return ""
		}
		return before
	case "substring-after":
		_, after, _ := strings.Cut(e.payText(e.text(n.Args[0], c)), e.text(n.Args[1], c))
		return after
	case "substring":
		return e.substring(n, c)
	case "translate":
		s, from, to := e.payText(e.text(n.Args[0], c)), e.text(n.Args[1], c), e.text(n.Args[2], c)
		e.pay(len(s)/8 + 4*len(from) + len(to))
		return translate(s, []rune(from), []rune(to))
	case "name", "local-name":
		return e.nameOf(n, c)
	}
	if functions[n.Name].result == aTruth {
		return strconv.FormatBool(e.truth(n, c))
	}
	return writeNumber(e.float(n, c))
}

func (e *Eval) nameOf(n *Call, c context) string {
	at, found := c.at, len(n.Args) == 0
	if !found {
		e.nodes(n.Args[0], c, 1, func(r Ref) { at, found = r, true })
	}
	node := e.Tree.nodes[at.ID]
	switch {
	case !found || e.Tree.atoms[at.ID] == noElement:
		return ""
	case at.Attr >= 0:
		if a := node.Attr[at.Attr]; a.Namespace != "" && n.Name == "name" {
			return a.Namespace + ":" + a.Key
		}
		return node.Attr[at.Attr].Key
	}
	return node.Data
}

// substring counts characters from 1 and rounds what it is given (§4.2).
func (e *Eval) substring(n *Call, c context) string {
	s := e.payText(e.text(n.Args[0], c))
	from := math.Floor(e.float(n.Args[1], c) + .5)
	to := math.Inf(1)
	if len(n.Args) == 3 {
		to = from + math.Floor(e.float(n.Args[2], c)+.5)
	}
	var b strings.Builder
	at := 0.0
	for _, r := range s {
		if at++; at >= from && at < to {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func translate(s string, from, to []rune) string {
	by := map[rune]rune{}
	for i, r := range from {
		if _, twice := by[r]; twice {
			continue
		}
		by[r] = -1
		if i < len(to) {
			by[r] = to[i]
		}
	}
	return strings.Map(func(r rune) rune {
		if other, ok := by[r]; ok {
			return other
		}
		return r
	}, s)
}

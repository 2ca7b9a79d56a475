package xpath

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Node of an expression: *Path, *Binary, *Call, Literal or Number.
type Node interface {
	write(b *strings.Builder, within int)
}

// Path is a location path, or the union of nothing else: where it begins and its steps.
type Path struct {
	Absolute bool // begins at the page, not at the context
	From     Node // begins at what this selects, as in (//a)[1]/@href; nil
	Filter   []Node
	Steps    []*Step
}

// Step is one step of a path.
type Step struct {
	Axis  Axis
	Test  string // an element's or attribute's name, "*", "node()", "text()" or "comment()"
	Preds []Node

	atom       uint32 // of Test, if it has one
	positional bool   // a predicate asks for the position
	sieves     []sieve
}

// Binary is an operation on two expressions: or, and, =, !=, <, <=, >, >=, +, -, *, div, mod or |.
type Binary struct {
	Op          string
	Left, Right Node
}

// Call is a function call.
type Call struct {
	Name string
	Args []Node

	pattern *regexp.Regexp // of matches
	cost    int            // of 8 bytes looked at by it
	classes []string       // of has-class
	bits    uint64         // of classes
}

// Literal is a string.
type Literal string

// Number is a number.
type Number float64

// Axis of a step.
type Axis uint8

// The axes. Descendant is also what "//" becomes where that is the same.
const (
	Child Axis = iota
	Descendant
	DescendantOrSelf
	Self
	Parent
	Ancestor
	AncestorOrSelf
	FollowingSibling
	PrecedingSibling
	Following
	Preceding
	Attribute
)

var axes = []string{"child", "descendant", "descendant-or-self", "self", "parent", "ancestor", "ancestor-or-self", "following-sibling", "preceding-sibling", "following", "preceding", "attribute"}

func (a Axis) String() string { return axes[a] }

// down reports whether a walk on the axis meets nodes in document order.
func (a Axis) down() bool {
	return a == Child || a == Descendant || a == DescendantOrSelf || a == Self || a == Attribute
}

// Clone copies a part of an expression, to change it.
func Clone(n Node) Node {
	switch n := n.(type) {
	case *Path:
		p := &Path{Absolute: n.Absolute, Filter: cloneAll(n.Filter)}
		if n.From != nil {
			p.From = Clone(n.From)
		}
		for _, s := range n.Steps {
			c := *s
			c.Preds = cloneAll(s.Preds)
			p.Steps = append(p.Steps, &c)
		}
		return p
	case *Binary:
		return &Binary{n.Op, Clone(n.Left), Clone(n.Right)}
	case *Call:
		c := *n
		c.Args = cloneAll(n.Args)
		return &c
	}
	return n
}

func cloneAll(list []Node) []Node {
	out := slices.Clone(list)
	for i := range out {
		out[i] = Clone(out[i])
	}
	return out
}

// Walk calls fn with each part of an expression, from the outside in.
func Walk(n Node, fn func(Node)) {
	fn(n)
	switch n := n.(type) {
	case *Path:
		if n.From != nil {
			Walk(n.From, fn)
		}
		for _, p := range n.Filter {
			Walk(p, fn)
		}
		for _, s := range n.Steps {
			for _, p := range s.Preds {
				Walk(p, fn)
			}
		}
	case *Binary:
		Walk(n.Left, fn)
		Walk(n.Right, fn)
	case *Call:
		for _, a := range n.Args {
			Walk(a, fn)
		}
	}
}

// Text writes a part of an expression as XPath.
func Text(n Node) string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// binding strength of the operators, the weakest first.
var strength = map[string]int{"or": 1, "and": 2, "=": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "div": 6, "mod": 6, "|": 8}

func (l Literal) write(b *strings.Builder, _ int) {
	switch {
	case !strings.Contains(string(l), "'"):
		b.WriteString("'" + string(l) + "'")
	case !strings.Contains(string(l), `"`):
		b.WriteString(`"` + string(l) + `"`)
	default: // XPath 1.0 knows no escapes
		b.WriteString("concat(")
		for i, part := range strings.Split(string(l), "'") {
			if i > 0 {
				b.WriteString(`, "'", `)
			}
			b.WriteString("'" + part + "'")
		}
		b.WriteString(")")
	}
}

func (n Number) write(b *strings.Builder, within int) {
	if n < 0 && within > 6 {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	b.WriteString(strconv.FormatFloat(float64(n), 'f', -1, 64))
}

func (o *Binary) write(b *strings.Builder, within int) {
	mine := strength[o.Op]
	if mine < within {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	o.Left.write(b, mine)
	b.WriteString(" " + o.Op + " ")
	o.Right.write(b, mine+1)
}

func (c *Call) write(b *strings.Builder, _ int) {
	b.WriteString(c.Name + "(")
	for i, a := range c.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		a.write(b, 0)
	}
	b.WriteByte(')')
}

func (p *Path) write(b *strings.Builder, within int) {
	if p.From != nil {
		if _, call := p.From.(*Call); call {
			p.From.write(b, 0)
		} else {
			b.WriteByte('(')
			p.From.write(b, 0)
			b.WriteByte(')')
		}
		writePreds(b, p.Filter)
	}
	if p.Absolute && len(p.Steps) == 0 {
		if within > 0 { // "/ or x" would read as a step
			b.WriteString("(/)")
		} else {
			b.WriteByte('/')
		}
	}
	for i, s := range p.Steps {
		lead := i > 0 || p.Absolute || p.From != nil
		slash := "/"
		if !lead {
			slash = ""
		}
		switch {
		case s.Axis == Descendant && !slices.ContainsFunc(s.Preds, positional):
			if !lead {
				slash = ".//"
			} else {
				slash = "//"
			}
			b.WriteString(slash + s.Test)
		case s.Axis == Child:
			b.WriteString(slash + s.Test)
		case s.Axis == Attribute:
			b.WriteString(slash + "@" + s.Test)
		case s.Axis == Self && s.Test == "node()" && len(s.Preds) == 0:
			b.WriteString(slash + ".")
		case s.Axis == Parent && s.Test == "node()" && len(s.Preds) == 0:
			b.WriteString(slash + "..")
		default:
			b.WriteString(slash + s.Axis.String() + "::" + s.Test)
		}
		writePreds(b, s.Preds)
	}
}

func writePreds(b *strings.Builder, preds []Node) {
	for _, p := range preds {
		b.WriteByte('[')
		p.write(b, 0)
		b.WriteByte(']')
	}
}

package xpath

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/fnv"
)

const (
	// MaxLength bounds an expression, in bytes.
	MaxLength = 4096
	// MaxNesting bounds how deep brackets may stand in each other.
	MaxNesting = 40
)

// Expr is a parsed expression. It is safe for concurrent use.
type Expr struct {
	Root   Node
	source string
	needs  [][]string
}

// Parse reads an expression.
func Parse(source string) (*Expr, error) {
	if len(source) > MaxLength {
		return nil, fmt.Errorf("is longer than %d bytes", MaxLength)
	}
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("is empty")
	}
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, fmt.Errorf("unexpected %q at %d", t.text, t.at+1)
	}
	if root, err = finish(root); err != nil {
		return nil, err
	}
	return &Expr{Root: root, source: source, needs: needs(root)}, nil
}

// From makes an expression of a tree that was changed.
func From(root Node) (*Expr, error) { return Parse(Text(root)) }

func (e *Expr) String() string { return e.source }

// Selects reports whether the expression selects nodes; others compute a number, a string or a truth value.
func (e *Expr) Selects() bool { return selects(e.Root) }

func selects(n Node) bool {
	switch n := n.(type) {
	case *Path:
		return n.From == nil || selects(n.From)
	case *Binary:
		return n.Op == "|" && selects(n.Left) && selects(n.Right)
	}
	return false
}

type parser struct {
	tokens []token
	at     int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) is(text string) bool {
	t := p.peek()
	return t.kind == symbol && t.text == text
}

func (p *parser) take(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) error {
	if p.take(text) {
		return nil
	}
	t := p.peek()
	if t.kind == end {
		return fmt.Errorf("%q is missing at the end", text)
	}
	return fmt.Errorf("%q instead of %q at %d", t.text, text, t.at+1)
}

// expression reads operators that bind stronger than least: 0 within brackets.
func (p *parser) expression(least int) (Node, error) {
	if least == 0 {
		if p.depth++; p.depth > MaxNesting {
			return nil, fmt.Errorf("brackets stand in each other more than %d deep", MaxNesting)
		}
		defer func() { p.depth-- }()
	}
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		mine := strength[t.text]
		if t.kind != symbol && t.kind != name || mine == 0 || mine <= least {
			return left, nil
		}
		p.at++
		right, err := p.expression(mine)
		if err != nil {
			return nil, err
		}
		left = &Binary{t.text, left, right}
	}
}

func (p *parser) unary() (Node, error) {
	signs := 0
	for p.take("-") {
		signs++
	}
	if signs == 0 {
		return p.path()
	}
	n, err := p.expression(7)
	if err != nil {
		return nil, err
	}
	switch v, is := n.(Number); {
	case is && signs%2 == 0:
		return v, nil
	case is:
		return -v, nil
	case signs%2 == 0:
		return &Call{Name: "number", Args: []Node{n}}, nil
	}
	return &Binary{"-", Number(0), n}, nil
}

// path reads a location path, or a filter expression and what follows it.
func (p *parser) path() (Node, error) {
	t := p.peek()
	path := &Path{}
	switch {
	case t.kind == literal:
		p.at++
		return Literal(t.text), nil
	case t.kind == number:
		p.at++
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q at %d is no number", t.text, t.at+1)
		}
		return Number(v), nil
	case p.is("("), t.kind == name && p.call():
		from, err := p.primary()
		if err != nil {
			return nil, err
		}
		if !p.is("[") && !p.is("/") && !p.is("//") {
			return from, nil
		}
		path.From = from
		if path.Filter, err = p.predicates(); err != nil {
			return nil, err
		}
		if !p.is("/") && !p.is("//") {
			return path, nil
		}
	case p.is("/"):
		path.Absolute = true
		p.at++
		if !p.stepBegins() {
			return path, nil
		}
		return p.steps(path, true)
	case p.is("//"):
		path.Absolute = true
	default:
		return p.steps(path, true)
	}
	return p.steps(path, false)
}

func (p *parser) call() bool {
	t := p.tokens[p.at+1]
	if t.kind != symbol || t.text != "(" {
		return false
	}
	switch p.peek().text {
	case "node", "text", "comment":
		return false
	}
	return true
}

func (p *parser) primary() (Node, error) {
	if p.take("(") {
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		return n, p.want(")")
	}
	c := &Call{Name: p.next().text}
	p.at++ // the bracket
	for !p.is(")") {
		if len(c.Args) > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		a, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, a)
	}
	p.at++
	return c, nil
}

func (p *parser) stepBegins() bool {
	t := p.peek()
	return t.kind == name || p.is("*") || p.is("@") || p.is(".") || p.is("..")
}

// steps reads the steps of a path; begun reports that the first needs no slash.
func (p *parser) steps(path *Path, begun bool) (Node, error) {
	for {
		if !begun {
			switch {
			case p.take("//"):
				path.Steps = append(path.Steps, &Step{Axis: DescendantOrSelf, Test: "node()"})
			case p.take("/"):
			default:
				return path, nil
			}
		}
		begun = false
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		path.Steps = append(path.Steps, s)
	}
}

func (p *parser) step() (*Step, error) {
	s := &Step{}
	switch {
	case p.take("."):
		s.Axis, s.Test = Self, "node()"
		return s, nil // no predicate may stand behind a dot
	case p.take(".."):
		s.Axis, s.Test = Parent, "node()"
		return s, nil
	case p.take("@"):
		s.Axis = Attribute
	case p.peek().kind == name && p.tokens[p.at+1].kind == symbol && p.tokens[p.at+1].text == "::":
		at := slices.Index(axes, p.peek().text)
		if at < 0 {
			return nil, fmt.Errorf("there is no axis %q; known: %s", p.peek().text, strings.Join(axes, ", "))
		}
		s.Axis = Axis(at)
		p.at += 2
	}
	t := p.next()
	switch {
	case t.kind == symbol && t.text == "*":
		s.Test = "*"
	case t.kind == name && p.is("("):
		if t.text != "node" && t.text != "text" && t.text != "comment" {
			return nil, fmt.Errorf("%s() cannot be a step of a path", t.text)
		}
		p.at++
		if err := p.want(")"); err != nil {
			return nil, err
		}
		s.Test = t.text + "()"
	case t.kind == name:
		s.Test = strings.ToLower(t.text)
	case t.kind == end:
		return nil, errors.New("ends where a step of a path must stand")
	default:
		return nil, fmt.Errorf("%q instead of a step at %d", t.text, t.at+1)
	}
	var err error
	s.Preds, err = p.predicates()
	return s, err
}

func (p *parser) predicates() (preds []Node, err error) {
	for p.take("[") {
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		if err = p.want("]"); err != nil {
			return nil, err
		}
		preds = append(preds, n)
	}
	return preds, nil
}

// finish checks function calls, and makes of what was read what is quick to evaluate.
func finish(n Node) (Node, error) {
	var err error
	all := func(list []Node) {
		for i := range list {
			if err == nil {
				list[i], err = finish(list[i])
			}
		}
	}
	switch n := n.(type) {
	case *Path:
		if n.From != nil {
			if n.From, err = finish(n.From); err != nil {
				return nil, err
			}
			if !selects(n.From) {
				return nil, fmt.Errorf("a path stands behind %s, which selects no nodes", Text(n.From))
			}
		}
		all(n.Filter)
		for _, s := range n.Steps {
			all(s.Preds)
			s.positional = slices.ContainsFunc(s.Preds, positional)
			s.atom = uint32(atom.Lookup([]byte(s.Test)))
			if err == nil {
				s.sieves = sieves(s.Preds, s.positional)
			}
		}
		n.Steps = fuse(n.Steps)
		if n.From != nil && len(n.Filter)+len(n.Steps) == 0 {
			return n.From, err
		}
		if len(n.Steps) == 0 && n.From == nil && !n.Absolute {
			n.Steps = []*Step{{Axis: Self, Test: "node()"}}
		}
		return n, err
	case *Binary:
		both := []Node{n.Left, n.Right}
		all(both)
		n.Left, n.Right = both[0], both[1]
		if err == nil && n.Op == "|" && !selects(n) {
			err = errors.New("the operator | joins what selects nodes only")
		}
		return n, err
	case *Call:
		all(n.Args)
		if err != nil {
			return nil, err
		}
		if c := classIdiom(n); c != nil {
			n = c
		}
		return n, n.check()
	}
	return n, nil
}

// fuse makes one step of "//x", which is descendant-or-self::node()/child::x: that is descendant::x, unless a
// predicate counts positions among the children of one parent.
func fuse(steps []*Step) []*Step {
	out := steps[:0]
	for _, s := range steps {
		if n := len(out); n > 0 && s.Axis == Child && !s.positional {
			if last := out[n-1]; last.Axis == DescendantOrSelf && last.Test == "node()" && len(last.Preds) == 0 {
				s.Axis = Descendant
				out[n-1] = s
				continue
			}
		}
		if s.Axis == Self && s.Test == "node()" && len(s.Preds) == 0 {
			continue // ".//x" begins at the context anyway
		}
		out = append(out, s)
	}
	return out
}

// positional reports whether a predicate's value depends on the position.
func positional(pred Node) bool {
	switch n := pred.(type) {
	case Number:
		return true
	case *Binary:
		switch n.Op {
		case "+", "-", "*", "div", "mod":
			return true
		}
	case *Call:
		if functions[n.Name].result == aNumber {
			return true
		}
	}
	found := false
	var look func(Node)
	look = func(n Node) {
		switch n := n.(type) {
		case *Binary:
			look(n.Left)
			look(n.Right)
		case *Call:
			found = found || n.Name == "position" || n.Name == "last"
			for _, a := range n.Args {
				look(a)
			}
		case *Path: // positions within it are its own
			if n.From != nil {
				look(n.From)
			}
		}
	}
	look(pred)
	return found
}

// classIdiom reads contains(concat(' ', @class, ' '), ' x ') as has-class('x').
func classIdiom(c *Call) *Call {
	if c.Name != "contains" || len(c.Args) != 2 {
		return nil
	}
	around, ok := c.Args[0].(*Call)
	word, isWord := c.Args[1].(Literal)
	if !ok || !isWord || around.Name != "concat" || len(around.Args) != 3 || around.Args[0] != Literal(" ") || around.Args[2] != Literal(" ") {
		return nil
	}
	of := around.Args[1]
	if fold, ok := of.(*Call); ok && fold.Name == "normalize-space" && len(fold.Args) == 1 {
		of = fold.Args[0]
	}
	class := strings.TrimSpace(string(word))
	if attrOf(of) != "class" || " "+class+" " != string(word) || class == "" || hasSpace(class) {
		return nil
	}
	return &Call{Name: "has-class", Args: []Node{Literal(class)}}
}

// attrOf returns the attribute's name if an expression is just @name.
func attrOf(n Node) string {
	p, ok := n.(*Path)
	if !ok || p.Absolute || p.From != nil || len(p.Steps) != 1 {
		return ""
	}
	s := p.Steps[0]
	if s.Axis != Attribute || len(s.Preds) > 0 || s.Test == "*" || strings.HasSuffix(s.Test, "()") {
		return ""
	}
	return s.Test
}

func (c *Call) check() error {
	f, known := functions[c.Name]
	if !known {
		return fmt.Errorf("there is no function %s", c.Name)
	}
	if len(c.Args) < f.least || len(c.Args) > f.most {
		return fmt.Errorf("function %s takes %d to %d arguments, not %d", c.Name, f.least, f.most, len(c.Args))
	}
	switch c.Name {
	case "count", "sum", "name", "local-name":
		if len(c.Args) > 0 && !selects(c.Args[0]) {
			return fmt.Errorf("function %s takes what selects nodes", c.Name)
		}
	case "has-class":
		c.classes, c.bits = nil, 0
		for _, a := range c.Args {
			class, ok := a.(Literal)
			if !ok || class == "" || hasSpace(string(class)) {
				return errors.New("has-class takes class names in quotes, one an argument")
			}
			c.classes = append(c.classes, string(class))
			c.bits |= bit(fnv.Sum32(string(class)))
		}
	case "matches":
		pattern, ok := c.Args[1].(Literal)
		if !ok {
			return errors.New("the second argument of matches must be a regular expression in quotes")
		}
		re, err := regexp.Compile(string(pattern))
		if err != nil {
			return fmt.Errorf("matches: %w", err)
		}
		c.pattern, c.cost = re, 4
		if tree, err := syntax.Parse(string(pattern), syntax.Perl); err == nil {
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				c.cost += len(prog.Inst)
			}
		}
	}
	return nil
}

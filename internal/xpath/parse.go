package xpath

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.accept(text) {
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
	for p.accept("-") {
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
			return nil, fmt.Errorf("%q at %d is not a number", t.text, t.at+1)
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
	if p.accept("(") {
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	}
	c := &Call{Name: p.next().text}
	p.at++ // the bracket
	for !p.is(")") {
		if len(c.Args) > 0 {
			if err := p.expect(","); err != nil {
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
			case p.accept("//"):
				path.Steps = append(path.Steps, &Step{Axis: DescendantOrSelf, Test: "node()"})
			case p.accept("/"):
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
	case p.accept("."):
		s.Axis, s.Test = Self, "node()"
		return s, nil // no predicate may stand behind a dot
	case p.accept(".."):
		s.Axis, s.Test = Parent, "node()"
		return s, nil
	case p.accept("@"):
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
		if err := p.expect(")"); err != nil {
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
	for p.accept("[") {
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		if err = p.expect("]"); err != nil {
			return nil, err
		}
		preds = append(preds, n)
	}
	return preds, nil
}

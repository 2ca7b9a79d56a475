package xpath

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/fnv"
)

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
		n.Steps = fuseDescendants(n.Steps)
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

// fuseDescendants makes one step of each "//x", which is descendant-or-self::node()/child::x: that is descendant::x, unless a
// predicate counts positions among the children of one parent.
func fuseDescendants(steps []*Step) []*Step {
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

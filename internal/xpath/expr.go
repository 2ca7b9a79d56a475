package xpath

import (
	"errors"
	"fmt"
	"strings"
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

package xpath

import (
	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// sieve decides of an element, by three quick checks, whether the predicates of a step can be true of it at all.
type sieve struct {
	kind    uint32 // atom of its name; 0: any
	classes uint64 // bits that it must have
	attrs   uint64
	token   uint32 // hash of a class or an id that it must have; 0: any
}

// maxSieves bounds the ways in which predicates may be true; where there are more, they are just asked.
const maxSieves = 12

func (s *sieve) holds(kind uint32, classes, attrs uint64) bool {
	return attrs&s.attrs == s.attrs && classes&s.classes == s.classes && (s.kind == 0 || s.kind == kind)
}

// sieves are the ways in which the predicates of a step may be true, of which one must hold; none if that is not
// known. Behind a predicate that asks for the position, others may not be asked out of turn.
func sieves(preds []Node, positions bool) (ways []sieve) {
	for _, p := range preds {
		if positions && positional(p) {
			return ways
		}
		ways = combine(ways, sievesOf(p))
		if positions {
			return ways
		}
	}
	return ways
}

func sievesOf(n Node) []sieve {
	switch n := n.(type) {
	case *Path:
		if n.From != nil || n.Absolute || len(n.Steps) == 0 {
			return nil
		}
		return n.Steps[0].selfSieves()
	case *Binary:
		switch n.Op {
		case "and":
			return combine(sievesOf(n.Left), sievesOf(n.Right))
		case "or", "|":
			l, r := sievesOf(n.Left), sievesOf(n.Right)
			if len(l) == 0 || len(r) == 0 || len(l)+len(r) > maxSieves {
				return nil
			}
			return append(l[:len(l):len(l)], r...)
		case "=", "!=", "<", "<=", ">", ">=":
			ways := combine(comparedSieves(n.Left, n.Right), comparedSieves(n.Right, n.Left))
			if p, _ := n.Left.(*Path); n.Op == "=" && p != nil && attrOf(p) == "id" && len(ways) == 1 {
				if l, is := n.Right.(Literal); is {
					ways = []sieve{{attrs: ways[0].attrs, token: fnv.Sum32(string(l))}}
				}
			}
			return ways
		}
	case *Call:
		switch n.Name {
		case "has-class":
			way := sieve{classes: n.bits, attrs: attrBit("class")}
			if len(n.classes) > 0 {
				way.token = fnv.Sum32(n.classes[0])
			}
			return []sieve{way}
		case "boolean":
			return sievesOf(n.Args[0])
		case "contains", "starts-with", "ends-with":
			if l, is := n.Args[1].(Literal); is && l != "" {
				return nonEmptySieves(n.Args[0])
			}
		}
	}
	return nil
}

// selfSieves is what a first step from an element asks of that element.
func (s *Step) selfSieves() (ways []sieve) {
	switch s.Axis {
	case Attribute:
		if s.Test != "*" && s.Test != "node()" {
			return []sieve{{attrs: attrBit(s.Test)}}
		}
	case Self:
		if s.atom != 0 {
			ways = []sieve{{kind: s.atom}}
		}
		return combine(ways, sieves(s.Preds, s.positional))
	}
	return nil
}

// comparedSieves are the sieves of nodes that are compared: a comparison with no nodes is false, unless it is with a truth value.
func comparedSieves(a, with Node) []sieve {
	if k, nodes := typeOf(with); !nodes && k == aTruth {
		return nil
	}
	if _, is := typeOf(a); !is {
		return nil
	}
	return sievesOf(a)
}

// nonEmptySieves are the sieves of nodes whose text is not empty.
func nonEmptySieves(n Node) []sieve {
	if c, is := n.(*Call); is {
		switch c.Name {
		case "normalize-space", "lower-case", "string", "translate":
			if len(c.Args) > 0 {
				return nonEmptySieves(c.Args[0])
			}
		}
		return nil
	}
	if _, nodes := typeOf(n); !nodes { // "false" is a text too
		return nil
	}
	return sievesOf(n)
}

// combine are the ways in which two things may be true together.
func combine(a, b []sieve) (ways []sieve) {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0 || len(a)*len(b) > maxSieves:
		return a
	}
	for _, x := range a {
		for _, y := range b {
			way := sieve{x.kind, x.classes | y.classes, x.attrs | y.attrs, x.token}
			if way.kind == 0 {
				way.kind = y.kind
			}
			if way.token == 0 {
				way.token = y.token
			}
			ways = append(ways, way)
		}
	}
	return ways
}

// attrBit gives the name of an attribute in an expression its bit: none to one that is not plain, which pages may
// write in several ways.
func attrBit(name string) uint64 {
	if name == "" || name[0] >= 0x80 || name[len(name)-1] >= 0x80 {
		return 0
	}
	return attrBitOf(name[0], name[len(name)-1], len(name))
}

// bitOf is the bit of a page's attribute.
func bitOf(a *html.Attribute) uint64 {
	if a.Key == "" {
		return 0
	}
	if a.Namespace != "" {
		return attrBitOf(a.Namespace[0], a.Key[len(a.Key)-1], len(a.Namespace)+1+len(a.Key))
	}
	return attrBitOf(a.Key[0], a.Key[len(a.Key)-1], len(a.Key))
}

// attrBitOf distinguishes names by their ends and length, whether they are written in capitals or not.
func attrBitOf(first, last byte, size int) uint64 {
	return 1 << ((uint(first|0x20)*5 + uint(last|0x20)*11 + uint(size)*3) & 63)
}

// Quick reports whether pages without the attributes or classes that the expression asks for cost it next to nothing.
func (e *Expr) Quick() bool {
	p, is := e.Root.(*Path)
	return is && p.From == nil && len(p.Steps) > 0 && len(p.Steps[0].sieves) > 0
}

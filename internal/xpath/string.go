package xpath

import (
	"math"
	"strconv"
	"strings"
)

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

package xpath

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

func boolToNumber(v bool) float64 {
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
		return boolToNumber(e.truth(n, c))
	}
	return toNumber(e.text(n, c))
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

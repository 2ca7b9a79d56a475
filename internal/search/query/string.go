package query

import (
	"strings"
	"unicode"
)

// String is the usual form of the query, which Parse reads as the same query.
func (q Query) String() string {
	if q.Root == nil {
		return ""
	}
	return string(q.Root.write(nil, false, false))
}

func (n And) write(b []byte, _, bound bool) []byte {
	return list(b, n, " ", bound, true)
}

func (n Or) write(b []byte, tight, bound bool) []byte {
	return list(b, n, " OR ", tight || bound, false)
}

func list(b []byte, nodes []Node, between string, parentheses, tight bool) []byte {
	if parentheses {
		b = append(b, '(')
	}
	for i, n := range nodes {
		if i > 0 {
			b = append(b, between...)
		}
		b = n.write(b, tight, false)
	}
	if parentheses {
		b = append(b, ')')
	}
	return b
}

func (n Not) write(b []byte, _, _ bool) []byte { return n.Of.write(append(b, '-'), true, true) }

func (n Words) write(b []byte, _, _ bool) []byte {
	if plain(n.Text) && n.Text != "OR" && n.Text != "AND" {
		return append(b, n.Text...)
	}
	return quote(b, n.Text)
}

func (n Is) write(b []byte, _, _ bool) []byte { return value(b, n.Field, n.Value) }

func (n Range) write(b []byte, _, _ bool) []byte { return value(b, n.Field, n.Text) }

func value(b []byte, f Field, v string) []byte {
	b = append(append(b, f...), ':')
	bare := strings.IndexFunc(v, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == ')' || r == '\\' || quotes[r] != "" }) < 0
	if bare {
		return append(b, v...)
	}
	return quote(b, v)
}

// plain reports whether a text is a word by itself.
func plain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}

func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

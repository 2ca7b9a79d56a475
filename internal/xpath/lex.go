package xpath

import (
	"fmt"
	"strings"
)

type kind uint8

const (
	end kind = iota
	name
	literal
	number
	symbol // operators and brackets
)

type token struct {
	kind kind
	text string
	at   int
}

// lex splits an expression into tokens.
func lex(s string) ([]token, error) {
	var out []token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '\'' || c == '"':
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("the string that begins at %d does not end", i+1)
			}
			out = append(out, token{literal, s[i+1 : i+1+n], i})
			i += n + 2
		case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]):
			j := i
			for j < len(s) && (digit(s[j]) || s[j] == '.') {
				j++
			}
			out = append(out, token{number, s[i:j], i})
			i = j
		case letter(c):
			j := i
			for j < len(s) && (letter(s[j]) || digit(s[j]) || s[j] == '-' || s[j] == '.') {
				j++
			}
			// a lone colon belongs to a name (xlink:href), two of them to an axis
			if j+1 < len(s) && s[j] == ':' && letter(s[j+1]) {
				for j++; j < len(s) && (letter(s[j]) || digit(s[j]) || s[j] == '-'); {
					j++
				}
			}
			out = append(out, token{name, s[i:j], i})
			i = j
		default:
			two := ""
			if i+2 <= len(s) {
				two = s[i : i+2]
			}
			switch two {
			case "//", "::", "..", "!=", "<=", ">=":
				out = append(out, token{symbol, two, i})
				i += 2
				continue
			}
			if !strings.ContainsRune("()[]/@.,|=<>+-*", rune(c)) {
				return nil, fmt.Errorf("unexpected %q at %d", c, i+1)
			}
			out = append(out, token{symbol, s[i : i+1], i})
			i++
		}
	}
	return append(out, token{end, "", len(s)}), nil
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/search/terms"
)

// Parse reads a query. Its errors are of type *Error. A query that has neither a word nor a field asks for everything.
func Parse(s string) (Query, error) {
	if len(s) > MaxBytes {
		return Query{}, &Error{0, fmt.Sprintf("the query has %d bytes: shorten it to %d", len(s), MaxBytes)}
	}
	if at := firstInvalid(s); at >= 0 {
		return Query{}, &Error{utf8.RuneCountInString(s[:at]), "this is not UTF-8: type the query again"}
	}
	p := parser{s: s, analyser: terms.New()}
	root, err := p.or()
	if err == nil && p.at < len(s) {
		err = p.fault(p.at, "no parenthesis is open that this one closes: remove it, or put the words in quotation marks")
	}
	if err != nil {
		return Query{}, err
	}
	return Query{root}, nil
}

func firstInvalid(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

type parser struct {
	s            string
	at           int // a byte
	terms, depth int
	analyser     *terms.Analyser
}

func (p *parser) fault(at int, format string, args ...any) *Error {
	return &Error{utf8.RuneCountInString(p.s[:at]), fmt.Sprintf(format, args...)}
}

// or reads alternatives up to a closing parenthesis or the end. It returns nil if they have no word and no field.
func (p *parser) or() (Node, error) {
	var list Or
	for {
		begin := p.at
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		or := p.word("OR")
		if n == nil && (or || len(list) > 0) {
			return nil, p.fault(begin, "OR stands between two words or groups: add the missing one, or write \"OR\" in quotation marks")
		}
		if inner, ok := n.(Or); ok {
			list = append(list, inner...)
		} else if n != nil {
			list = append(list, n)
		}
		if !or {
			break
		}
	}
	switch len(list) {
	case 0:
		return nil, nil
	case 1:
		return list[0], nil
	}
	return list, nil
}

// and reads what stands between two ORs.
func (p *parser) and() (Node, error) {
	var list []Node
	for {
		p.blanks()
		if p.at == len(p.s) || p.s[p.at] == ')' || p.isWord("OR") {
			return join(list), nil
		}
		if p.word("AND") { // which stands between any two
			continue
		}
		n, err := p.unary()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
}

// unary reads a word, phrase, field or group, and the minus signs before it. It returns nil of what has no word.
func (p *parser) unary() (Node, error) {
	begin := p.at
	c := p.s[p.at]
	denied := c == '-' && p.denies()
	if denied || c == '(' {
		if p.depth++; p.depth > MaxDepth {
			return nil, p.fault(begin, "more than %d parentheses and minus signs stand one in the other: take some away", MaxDepth)
		}
		defer func() { p.depth-- }()
	}
	switch {
	case denied:
		p.at++
		n, err := p.unary()
		if err != nil || n == nil {
			return nil, err
		}
		if twice, ok := n.(Not); ok {
			return twice.Of, nil
		}
		return Not{n}, nil
	case c == '(':
		p.at++
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if p.at == len(p.s) {
			return nil, p.fault(begin, "this parenthesis is not closed: add a ) or put the words in quotation marks")
		}
		p.at++
		return n, nil
	}
	if text, ok, err := p.quoted(); ok || err != nil {
		return p.words(text, begin), p.count(begin, err)
	}
	if name, ok := p.name(); ok {
		n, err := p.field(name, begin)
		return n, p.count(begin, err)
	}
	text := p.bare()
	if star := strings.IndexByte(text, '*'); star >= 0 && p.words(strings.ReplaceAll(text, "*", " "), begin) != nil {
		return nil, p.fault(begin+star, "there are no wildcards: write the word whole, which finds its other forms, too; site: finds all hosts of a domain")
	}
	return p.words(text, begin), p.count(begin, nil)
}

// count bounds the terms, one of which stands at a byte. It returns the error that it gets, if there is one.
func (p *parser) count(at int, err error) error {
	if p.terms > MaxTerms && err == nil {
		return p.fault(at, "the query has more than %d words and fields: take some away", MaxTerms)
	}
	return err
}

// words is the node of a word or phrase; nil if there is no word in it.
func (p *parser) words(text string, _ int) Node {
	if p.terms > MaxTerms {
		return nil
	}
	n := len(p.analyser.Phrase(text, someClass))
	if n == 0 {
		return nil
	}
	p.terms += n
	return Words{strings.TrimSpace(text)}
}

var someClass = []string{""}

// denies reports whether a minus sign denies what follows. One before a blank is a dash.
func (p *parser) denies() bool {
	r, n := utf8.DecodeRuneInString(p.s[p.at+1:])
	return n > 0 && !unicode.IsSpace(r) && r != ')'
}

func (p *parser) blanks() {
	for p.at < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += n
	}
}

// isWord reports whether a word in capitals stands here by itself.
func (p *parser) isWord(w string) bool {
	rest, ok := strings.CutPrefix(p.s[p.at:], w)
	r, n := utf8.DecodeRuneInString(rest)
	return ok && (n == 0 || unicode.IsSpace(r) || r == '(' || r == ')')
}

// word reads a word in capitals.
func (p *parser) word(w string) bool {
	p.blanks()
	if !p.isWord(w) {
		return false
	}
	p.at += len(w)
	return true
}

// quotes are the marks that begin a quotation, with those that end it.
var quotes = map[rune]string{'"': "\"", '“': "”“", '„': "“”", '«': "»"}

// quoted reads a quotation, if one begins here. A backslash in it takes the next character as it is.
func (p *parser) quoted() (text string, ok bool, err error) {
	begin := p.at
	r, n := utf8.DecodeRuneInString(p.s[p.at:])
	ends := quotes[r]
	if ends == "" {
		return "", false, nil
	}
	var b strings.Builder
	for i := begin + n; i < len(p.s); {
		r, n := utf8.DecodeRuneInString(p.s[i:])
		switch {
		case r == '\\' && i+n < len(p.s):
			i += n
			r, n = utf8.DecodeRuneInString(p.s[i:])
			b.WriteRune(r)
		case strings.ContainsRune(ends, r):
			p.at = i + n
			return b.String(), true, nil
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return "", false, p.fault(begin, "the quotation that begins here has no end: add a closing quotation mark")
}

// bare reads up to a blank, a parenthesis or a quotation.
func (p *parser) bare() string {
	begin := p.at
	for p.at < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.at:])
		if unicode.IsSpace(r) || r == '(' || r == ')' || quotes[r] != "" {
			break
		}
		p.at += n
	}
	return p.s[begin:p.at]
}

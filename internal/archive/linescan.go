package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// lineScanner reads a line of JSON, one value after the other. encoding/json goes through a value four times if a type decodes itself within
// another; the links that workers deliver to each other are most of what is decoded.
type lineScanner struct {
	rest []byte
	err  error // the first; then nothing is left
	n    int   // values of the longest column so far: most have as many
}

var errLine = errors.New("the line is damaged")

func (s *lineScanner) fail() {
	if s.err == nil {
		s.err = errLine
	}
	s.rest = nil
}

// next is the first byte of what comes next; 0: nothing does.
func (s *lineScanner) next() byte {
	for len(s.rest) > 0 {
		switch c := s.rest[0]; c {
		case ' ', '\t', '\r', '\n':
			s.rest = s.rest[1:]
		default:
			return c
		}
	}
	return 0
}

// take passes over a byte, if it comes next.
func (s *lineScanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// null passes over a null, if it comes next.
func (s *lineScanner) null() bool {
	if s.next() != 'n' {
		return false
	}
	if string(s.token()) != "null" {
		s.fail()
	}
	return true
}

// token is a number or a word.
func (s *lineScanner) token() []byte {
	s.next()
	n := bytes.IndexAny(s.rest, ",:]} \t\r\n")
	if n < 0 {
		n = len(s.rest)
	}
	out := s.rest[:n]
	if s.rest = s.rest[n:]; n == 0 {
		s.fail()
	}
	return out
}

// quoted is a string, with its quotes; plain: what is between them is its text.
func (s *lineScanner) quoted() (raw []byte, plain bool) {
	if s.next() != '"' {
		s.fail()
		return nil, false
	}
	for at := 1; ; {
		n := bytes.IndexByte(s.rest[at:], '"')
		if n < 0 {
			s.fail()
			return nil, false
		}
		slashes := 0
		for at += n; s.rest[at-1-slashes] == '\\'; slashes++ {
		}
		if at++; slashes%2 == 0 {
			raw, s.rest = s.rest[:at], s.rest[at:]
			return raw, bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw)
		}
	}
}

func (s *lineScanner) text() (out string) {
	if s.null() {
		return ""
	}
	switch raw, plain := s.quoted(); {
	case s.err != nil:
	case plain:
		out = string(raw[1 : len(raw)-1])
	case json.Unmarshal(raw, &out) != nil:
		s.fail()
	}
	return out
}

// digits is what a number is written as; nil of a null.
func (s *lineScanner) digits() []byte {
	if s.null() {
		return nil
	}
	t := s.token()
	if first := bytes.TrimPrefix(t, []byte("-")); len(first) == 0 || first[0] < '0' || first[0] > '9' { // strconv takes words as well
		s.fail()
		return nil
	}
	return t
}

func (s *lineScanner) number() float64 {
	t := s.digits()
	if t == nil {
		return 0
	}
	x, err := strconv.ParseFloat(string(t), 64)
	if err != nil {
		s.fail()
	}
	return x
}

func (s *lineScanner) integer() int {
	t := s.digits()
	if t == nil {
		return 0
	}
	n, err := strconv.Atoi(string(t))
	if err != nil {
		s.fail()
	}
	return n
}

func (s *lineScanner) flag() bool {
	if s.null() {
		return false
	}
	t := string(s.token())
	if t != "true" && t != "false" {
		s.fail()
	}
	return t == "true"
}

// maybe reads a value, or null.
func maybe[T any](s *lineScanner, value func() T) func() *T {
	return func() *T {
		if s.null() {
			return nil
		}
		v := value()
		return &v
	}
}

// skip passes over a value of any kind.
func (s *lineScanner) skip() {
	for depth := 0; ; {
		switch c := s.next(); c {
		case 0:
			s.fail()
			return
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.rest = s.rest[1:]
		case '}', ']':
			depth--
			s.rest = s.rest[1:]
		case ',', ':':
			s.rest = s.rest[1:]
			if depth == 0 {
				depth--
			}
		default:
			s.token()
		}
		if depth < 0 {
			s.fail()
		}
		if depth <= 0 {
			return
		}
	}
}

// object calls member with the name of each member; it reads the value.
func (s *lineScanner) object(member func(name []byte)) {
	if !s.take('{') {
		s.fail()
		return
	}
	if s.take('}') {
		return
	}
	for {
		raw, _ := s.quoted()
		if s.err != nil || !s.take(':') {
			s.fail()
			return
		}
		if member(raw[1 : len(raw)-1]); s.take('}') {
			return
		}
		if !s.take(',') {
			s.fail()
			return
		}
	}
}

// listOf reads a list; null is none.
func listOf[T any](s *lineScanner, value func() T, room int) []T {
	if s.null() {
		return nil
	}
	if !s.take('[') {
		s.fail()
		return nil
	}
	if s.take(']') {
		return []T{}
	}
	for out := make([]T, 0, room); ; {
		if out = append(out, value()); s.take(']') {
			return out
		}
		if !s.take(',') {
			s.fail()
			return nil
		}
	}
}

// columnOf reads a column: a list, or a value alone.
func columnOf[T any](s *lineScanner, value func() T) column[T] {
	if s.next() != '[' {
		return column[T]{value()}
	}
	out := listOf(s, value, s.n)
	s.n = max(s.n, len(out))
	return out
}

// end returns what was wrong with the line.
func (s *lineScanner) end() error {
	if s.next() != 0 {
		s.fail()
	}
	return s.err
}

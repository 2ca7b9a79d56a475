package archive

import (
	"errors"
	"io"

	"github.com/go-faster/jx"
)

// lineScanner reads a line of JSON, one value after the other. encoding/json goes through a value four times if a type decodes itself within
// another; the links that workers deliver to each other are most of what is decoded. Where a value may be missing it is null.
type lineScanner struct {
	json *jx.Decoder
	err  error // the first; nothing is read after it
	n    int   // values of the longest column so far: most have as many
}

// scan reads a line, an object, by its members.
func scan(line []byte, member func(s *lineScanner, name []byte)) error {
	s := &lineScanner{json: jx.GetDecoder()}
	defer jx.PutDecoder(s.json)
	s.json.ResetBytes(line)
	s.object(func(name []byte) { member(s, name) })
	if s.err == nil && !errors.Is(s.json.Skip(), io.EOF) {
		return errors.New("something follows the line's value")
	}
	return s.err
}

// read calls a method of the decoder, unless the next value is null or there was an error.
func read[T any](s *lineScanner, value func() (T, error)) (out T) {
	switch {
	case s.err != nil:
	case s.json.Next() == jx.Null:
		s.err = s.json.Null()
	default:
		out, s.err = value()
	}
	return out
}

func (s *lineScanner) text() string    { return read(s, s.json.Str) }
func (s *lineScanner) number() float64 { return read(s, s.json.Float64) }
func (s *lineScanner) integer() int    { return read(s, s.json.Int) }
func (s *lineScanner) flag() bool      { return read(s, s.json.Bool) }

// maybe reads a value, or null.
func maybe[T any](s *lineScanner, value func() T) func() *T {
	return func() *T {
		if s.json.Next() == jx.Null {
			s.json.Null() //nolint:errcheck // it is one
			return nil
		}
		v := value()
		return &v
	}
}

// skip passes over a value of any kind.
func (s *lineScanner) skip() {
	if s.err == nil {
		s.err = s.json.Skip()
	}
}

// object calls member with the name of each member; it reads the value.
func (s *lineScanner) object(member func(name []byte)) {
	if s.err == nil {
		s.err = s.json.ObjBytes(func(_ *jx.Decoder, name []byte) error {
			member(name)
			return s.err
		})
	}
}

// listOf reads a list; null is none.
func listOf[T any](s *lineScanner, value func() T, room int) []T {
	return read(s, func() ([]T, error) {
		out := make([]T, 0, room)
		err := s.json.Arr(func(*jx.Decoder) error {
			out = append(out, value())
			return s.err
		})
		return out, err
	})
}

// columnOf reads a column: a list, or a value alone.
func columnOf[T any](s *lineScanner, value func() T) column[T] {
	if s.err == nil && s.json.Next() != jx.Array {
		return column[T]{value()}
	}
	out := listOf(s, value, s.n)
	s.n = max(s.n, len(out))
	return out
}

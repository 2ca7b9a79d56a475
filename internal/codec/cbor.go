// Package codec has the encodings of what Muninn keeps in its own files and stores: the modes of CBOR, and a cursor for
// what is written by hand because there is one of it for each URL.
package codec

import (
	"io"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// Times keep their nanoseconds, in UTC: pauses are counted from them. The library's default cuts them to seconds.
//
// Strings need not be UTF-8 when they are read: header fields and pages are as their authors wrote them. Lists may be as
// long as they were written: the library's default of 131,072 elements is less than the text blocks of a large page.
var (
	encoding = must(cbor.EncOptions{Time: cbor.TimeRFC3339NanoUTC}.EncMode())
	decoding = must(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode())
)

func must[T any](mode T, err error) T {
	if err != nil {
		panic(err) // the options above contradict each other
	}
	return mode
}

// Raw is an encoded value within another one.
type Raw = cbor.RawMessage

// Marshal writes a value as CBOR (RFC 8949).
func Marshal(value any) ([]byte, error) { return encoding.Marshal(value) }

// Unmarshal reads what Marshal wrote.
func Unmarshal(raw []byte, into any) error { return decoding.Unmarshal(raw, into) }

// UnmarshalFirst reads the first of several values and returns what follows it.
func UnmarshalFirst(raw []byte, into any) (rest []byte, err error) {
	return decoding.UnmarshalFirst(raw, into)
}

// NewEncoder writes values one after the other, as Marshal does.
func NewEncoder(w io.Writer) *cbor.Encoder { return encoding.NewEncoder(w) }

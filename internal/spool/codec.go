package spool

import (
	"math"

	"github.com/fxamacker/cbor/v2"
)

// The modes of CBOR. Times keep their nanoseconds: the pause after a request is counted from them. Strings
// need not be UTF-8: header fields and pages are as their authors wrote them. A page may
// have more text blocks than the library's bound of 131,072 elements.
var (
	encoding = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode())
	decoding = must(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: math.MaxInt32}.DecMode())
)

func must[T any](mode T, err error) T {
	if err != nil {
		panic(err) // the options above contradict each other
	}
	return mode
}

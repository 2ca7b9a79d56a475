package fnv

import (
	"hash/fnv"
	"testing"
)

func TestSum32(t *testing.T) {
	for _, s := range []string{"", "raven", "Rabenvögel", "u:depth=", "\x00\xff"} {
		h := fnv.New32a()
		if _, err := h.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if got, want := Sum32(s), h.Sum32(); got != want {
			t.Errorf("%q: %x, want %x", s, got, want)
		}
		bytewise := Sum32("ra")
		for i := range len(s) {
			bytewise = AddByte(bytewise, s[i])
		}
		if got := Add(Sum32("ra"), s); got != Sum32("ra"+s) || bytewise != got {
			t.Errorf("ra and %q: %x and %x, want %x", s, got, bytewise, Sum32("ra"+s))
		}
	}
}

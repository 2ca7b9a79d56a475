package traps

import (
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/codec"
)

// A claim asks IsQuiet alone: what it says of an encoded memory must be what Quiet says of the memory, and a memory that another version
// has written, without the mark, must be read as well.
func TestMemoryEncoding(t *testing.T) {
	suspicious := pattern{Key: 7, Pages: suspectPages, Useless: 1<<suspectPages - 1, Counted: suspectPages}
	for name, m := range map[string]*Memory{
		"nothing":         {},
		"a quiet pattern": {Clock: 3, Run: 2, Prints: []seen{{All: 1, Own: 2}}, Patterns: []pattern{{Key: 7, Pages: 1, Useful: 1}}},
		"a suspicion":     {Clock: 9, Patterns: []pattern{suspicious}},
		"a closed one":    {Closed: []Closed{{Pattern: "a.example/*", Evidence: "all alike"}}},
	} {
		raw, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if IsQuiet(raw) != m.Quiet() {
			t.Errorf("%s: encoded, it is quiet: %v", name, IsQuiet(raw))
		}
		if got := Decode(raw); !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %+v, want %+v", name, got, m)
		}
		if raw, err = codec.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if got := Decode(raw); IsQuiet(raw) || !reflect.DeepEqual(got, m) {
			t.Errorf("%s, without the mark: %+v, want %+v", name, got, m)
		}
	}
	if quiet := (&Memory{Patterns: []pattern{suspicious}}).Quiet(); quiet {
		t.Error("the suspicious pattern of this test is not suspicious")
	}
	if m := Decode([]byte{quiet, 0xff}); !reflect.DeepEqual(m, &Memory{}) {
		t.Errorf("what cannot be read: %+v", m)
	}
}

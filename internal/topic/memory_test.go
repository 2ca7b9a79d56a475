package topic

import (
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/text"
)

// TestEncoding: models, memories and samples are encoded as earlier versions encoded them, with the modes of the library: frontiers and
// archives hold such bytes. A map has no order: there is one entry in each.
func TestEncoding(t *testing.T) {
	terms := []text.Term{{Text: "raven", Weight: 0.5}, {Text: "crow", Weight: 3}}
	for name, value := range map[string]any{
		"nothing learned": Model{},
		"a model":         Model{Relevant: 3, Terms: terms, Words: []string{"Ravens", ""}, Hosts: terms, Paths: []Path{{Terms: terms, Level: 1, Next: []int{0, 2}}}},
		"no memory":       keptMemory{},
		"a memory":        keptMemory{Topic: "t", Pages: 7.5, Terms: terms, Young: map[string]scoreSum{"a.test": {}}, Old: map[string]scoreSum{}},
		"samples":         []Sample{{}, {URL: "http://a.test/", Score: 1, Example: true, Terms: terms, PageFeatures: []byte{0, 255}, Names: []string{"Wotan"}}},
	} {
		former, err := cbor.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := codec.Marshal(value); err != nil || !bytes.Equal(now, former) {
			t.Errorf("%s: %x, %v; before %x", name, now, err, former)
		}
	}
}

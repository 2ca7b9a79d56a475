package adapt

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/extract"
)

func TestEncode(t *testing.T) {
	tests := []Prints{
		{},
		{Application: "phpBB", Version: "3", Level: "thread"},
		{Application: "Wörd & <Press>", Level: "article", Objects: []Print{
			{Type: "article", Properties: []Property{{Name: "title", Hash: 1<<64 - 1, Size: 3}, {Name: "body", Hash: 0, Size: 1 << 40}}},
			{Type: "comment", Properties: []Property{}},
		}},
	}
	for _, want := range tests {
		got := DecodePrints(want.Encode())
		if former, err := cbor.Marshal(&want); err != nil || !bytes.Equal(want.Encode(), former) {
			t.Errorf("%+v is not encoded as earlier versions encoded it, with the modes of the library: %v", want, err)
		}
		if got == nil || got.Application != want.Application || got.Version != want.Version || got.Level != want.Level || len(got.Objects) != len(want.Objects) {
			t.Fatalf("%+v becomes %+v", want, got)
		}
		for i := range want.Objects {
			if !reflect.DeepEqual(got.Objects[i], want.Objects[i]) {
				t.Errorf("%+v becomes %+v", want.Objects[i], got.Objects[i])
			}
		}
	}
	full := Prints{Application: "phpBB", Level: "thread"}
	for i := range MaxPrints {
		full.Objects = append(full.Objects, Print{Type: "post", Properties: []Property{{Name: "body", Hash: Hash(fmt.Sprint("text ", i)), Size: 5}}})
	}
	if n := len(full.Encode()); n > 40*MaxPrints {
		t.Errorf("%d objects take %d bytes", MaxPrints, n)
	}
}

func TestDecodeWhatIsNone(t *testing.T) {
	good := (&Prints{Application: "phpBB", Level: "thread", Objects: []Print{{Type: "post", Properties: []Property{{Name: "body", Hash: 7, Size: 9}}}}}).Encode()
	odd := func(v any) []byte {
		raw, err := cbor.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, raw := range map[string][]byte{
		"nothing":             nil,
		"empty":               {},
		"text":                []byte("raven"),
		"cut":                 good[:len(good)-1],
		"more behind":         append(append([]byte{}, good...), 1),
		"a map":               odd(map[string]string{"Application": "phpBB"}),
		"a number":            odd(7),
		"another type inside": odd([]any{"phpBB", "", "thread", "post"}),
		"a negative hash":     odd([]any{"phpBB", "", "thread", []any{[]any{"post", []any{[]any{"body", -1, 9}}}}}),
		"endless array":       {0x84, 0x60, 0x60, 0x60, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"deep":                []byte(strings.Repeat("\x81", 10_000)),
	} {
		if got := DecodePrints(raw); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPrintOfTheLongest(t *testing.T) {
	tests := []struct {
		name  string
		parts []Property
		want  int
	}{
		{"none", nil, -1},
		{"the body, if others are longer", []Property{{Name: "title", Size: 90}, {Name: "body", Size: 8}}, 1},
		{"a body too short", []Property{{Name: "author", Size: 4}, {Name: "title", Size: 9}, {Name: "body", Size: 7}}, 1},
		{"no body", []Property{{Name: "author", Size: 4}, {Name: "title", Size: 4}}, 0},
		{"a short body alone", []Property{{Name: "body", Size: 2}}, 0},
	}
	for _, test := range tests {
		if got := (&Print{Properties: test.parts}).Longest(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestPrintsOf: for the first objects all properties are remembered, for later ones only the text, for the last ones nothing.
func TestPrintsOf(t *testing.T) {
	var page strings.Builder
	for i := range MaxPrints + 5 {
		fmt.Fprintf(&page, `<div title="about %d"><b>Hugin%d</b><p>Text <i>number</i> %d</p><u>x</u></div>`, i, i, i)
	}
	e := opened(t, page.String())
	list := extracted(t, e, Rule{Type: "post", Each: "//div", Properties: []PropertyRule{{Name: "title", XPath: "@title"}, {Name: "author", XPath: "b"}, {Name: "body", XPath: "p"}, {Name: "number", XPath: "u"}}})
	got := PrintsOf(e.Tree, list)
	if len(got) != MaxPrints {
		t.Fatalf("%d objects, want %d", len(got), MaxPrints)
	}
	for i, p := range got {
		want := []Property{{Name: "title", Hash: sumOf(fmt.Sprintf("about %d", i)).hash}, {Name: "author", Hash: sumOf(fmt.Sprintf("hugin%d", i)).hash},
			{Name: "body", Hash: Hash(fmt.Sprintf("text number %d", i))}}
		if i >= fullPrints {
			want = want[2:]
			if len(p.Properties) == 2 { // the first property is kept until the body comes
				p.Properties = p.Properties[1:]
			}
		}
		if p.Type != "post" || len(p.Properties) != len(want) {
			t.Fatalf("%d: %+v", i, p)
		}
		for j := range want {
			if p.Properties[j].Name != want[j].Name || p.Properties[j].Hash != want[j].Hash {
				t.Errorf("%d: %+v, want %+v", i, p.Properties[j], want[j])
			}
		}
	}
	if got := PrintsOf(e.Tree, nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
	if got := PrintsOf(e.Tree, []extract.Located{{Type: "post"}, {Type: "post", Parts: []extract.Part{{Name: "number", At: at(t, e, "//u")}}}}); got != nil {
		t.Errorf("of objects that say nothing: %+v", got)
	}
}

// Prints are bounded where they are made, whatever a page holds.
func TestPrintsAreBounded(t *testing.T) {
	p := &Prints{Application: "phpBB", Level: "thread"}
	for range MaxPrints {
		o := Print{Type: "post"}
		for range maxProperties {
			q := Property{Name: strings.Repeat("p", 20), Hash: 1 << 60, Size: 1 << 20}
			for i := range maxOut {
				q.Out = append(q.Out, 1<<60+uint64(i))
			}
			o.Properties = append(o.Properties, q)
		}
		p.Objects = append(p.Objects, o)
	}
	raw := p.Encode()
	if len(raw) > MaxEncoded || len(raw) < MaxEncoded/4 {
		t.Errorf("%d bytes", len(raw))
	}
	if got := DecodePrints(raw); got == nil || len(got.Objects) == 0 || got.Level != "thread" {
		t.Errorf("%+v", got)
	}
}

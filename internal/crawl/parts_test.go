package crawl

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParts(t *testing.T) {
	for _, c := range []struct {
		parts Parts
		text  string
	}{
		{nil, `{}`},
		{Parts{{"document", 0.5}}, `{"document":0.5}`},
		{Parts{{"url", 1}, {"anchor", 0}, {"helper", 0.125}}, `{"url":1,"anchor":0,"helper":0.125}`}, // as they were said
		{Parts{{"document", 1e-9}}, `{"document":1e-09}`},
		{Parts{{`a "quoted" \`, 0.25}}, `{"a \"quoted\" \\":0.25}`},
	} {
		text, err := json.Marshal(c.parts)
		if err != nil || string(text) != c.text {
			t.Errorf("%v is %s (%v), want %s", c.parts, text, err, c.text)
		}
		if got := string(c.parts.Append([]byte("x"))); got != "x"+c.text {
			t.Errorf("%v is appended as %s", c.parts, got)
		}
		got := Parts{{"before", 1}}
		if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, c.parts) {
			t.Errorf("%s comes back as %v, %v", text, got, err)
		}
	}
}

func TestPartsOf(t *testing.T) {
	p := Parts{{"document", 0}, {"url", 0.5}}
	for name, want := range map[PartName]float64{PartDocument: 0, PartURL: 0.5} {
		if got, said := p.Of(name); !said || got != want {
			t.Errorf("%s: %g, %v", name, got, said)
		}
	}
	for _, none := range []Parts{p, nil} {
		if got, said := none.Of("anchor"); said || got != 0 {
			t.Errorf("anchor of %v: %g", none, got)
		}
	}
}

// TestOldParts: parts of −1 said nothing.
func TestOldParts(t *testing.T) {
	var got Parts
	if err := json.Unmarshal([]byte(` {"document": 0.5, "paragraph": -1, "anchor":0, "url":-1, "helper": -1} `), &got); err != nil {
		t.Fatal(err)
	}
	if want := (Parts{{"document", 0.5}, {"anchor", 0}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNoParts(t *testing.T) {
	for _, text := range []string{``, `[]`, `7`, `"document"`, `true`, `[{"Name":"document","Score":1}]`, `{"document":"much"}`, `{"document":[1]}`, `{"document":{}}`, `{"document":1`, `{"document"}`, `{1:1}`, `{"document":1e999}`, `{"document":NaN}`, `{"document":1}}`} {
		var got Parts
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken as %v", text, got)
		}
	}
}

// TestPartsInRecords: records without parts leave them out, and random parts are read back to six digits.
func TestPartsInRecords(t *testing.T) {
	text, err := json.Marshal([]any{LinkVerdict{Parts: Parts{}}, Discovery{URL: "a"}})
	if err != nil || string(text) != `[{"score":0},{"url":"a","path":"","score":0}]` {
		t.Errorf("%s, %v", text, err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var want Parts
		for _, name := range PartNames {
			if random.IntN(2) == 0 {
				want = append(want, Part{name, random.Float64()})
			}
		}
		text, err := json.Marshal(LinkVerdict{Parts: want})
		if err != nil {
			t.Fatal(err)
		}
		var got LinkVerdict
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Parts) != len(want) {
			t.Fatalf("%v comes back as %v", want, got.Parts)
		}
		for i, p := range got.Parts {
			if p.Name != want[i].Name || math.Abs(p.Score-want[i].Score) > 5e-6 {
				t.Fatalf("%v comes back as %v", want, got.Parts)
			}
		}
	}
}

package focus

import (
	"strings"
	"testing"
)

// TestBeside: the published figures stand beside the measured ones, and the pairs are named whose order is another.
func TestBeside(t *testing.T) {
	r := Result{Topics: []string{"a", "b"}, Orders: []string{"breadth-first", "oracle", "best-first content", "hmm"}, Rows: []Row{
		{Order: "breadth-first", Topic: "a", Harvest: 0.1, Area: 0.5}, {Order: "breadth-first", Topic: "b", Harvest: 0.3, Area: 0.7},
		{Order: "best-first content", Topic: "a", Harvest: 0.2, Area: 0.8}, {Order: "best-first content", Topic: "b", Harvest: 0.2, Area: 0.8},
		{Order: "hmm", Topic: "a", Harvest: 0.1, Area: 0.1}, {Order: "hmm", Topic: "b", Harvest: 0.1, Area: 0.3},
	}}
	var out strings.Builder
	if err := r.Beside(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"best-first content 14.42 % 20.00 % 0.800 hmm 3.81 % 10.00 % 0.200 breadth-first 2.52 % 20.00 % 0.600",
		"2 of the 3 pairs stand in the published order; not as published: hmm before breadth-first",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(text, "oracle") {
		t.Error("nobody has published an oracle")
	}
	out.Reset()
	if err := (Result{Orders: []string{Ours}}).Beside(&out); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

package text

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// leastGold is how many pages have gold.
const leastGold = 4

// TestLongGold: the shipped gold fits the saved pages, and on its judging half extraction does not get worse.
func TestLongGold(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no saved pages")
	}
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < leastGold {
		t.Errorf("%d pages have gold, want %d", len(list), leastGold)
	}
	pages, err := Load(filepath.Join(data, "aah"), list)
	if err != nil {
		t.Fatal(err)
	}
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	generic, err := GenericBase(kb.Files())
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]float64{"muninn": leastF1, "generic": leastGenericF1}
	for _, row := range Sum(base.ID, Measure(pages, []System{Muninn("muninn", base, false), Muninn("generic", generic, false)}), 0).Rows {
		if row.Group != Judging {
			continue
		}
		t.Logf("%s: body F1 %.3f on %d pages", row.System, row.Match.F1, row.Pages)
		if row.Match.F1 < least[row.System] || row.Faults > 0 {
			t.Errorf("%s: body F1 %.3f, want %.3f; faults %d", row.System, row.Match.F1, least[row.System], row.Faults)
		}
	}
}

// What extraction reaches on the judging half, a little less.
const (
	leastF1        = 0.5
	leastGenericF1 = 0.5
)

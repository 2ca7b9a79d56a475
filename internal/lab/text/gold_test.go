package text

import (
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// leastGold is how many pages have gold.
const leastGold = 287

// TestShipped: the shipped gold can be read, there is some for each half, and no body is selected by an expression of the knowledge base,
// which would prove itself.
func TestShipped(t *testing.T) {
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < leastGold {
		t.Errorf("%d pages have gold, want %d", len(list), leastGold)
	}
	var rules strings.Builder
	err = fs.WalkDir(kb.Files(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(kb.Files(), name)
		rules.WriteString(html.UnescapeString(string(raw)))
		return err
	})
	if err != nil || !strings.Contains(rules.String(), `xpath="//h1"`) {
		t.Fatalf("the rules of the knowledge base are not found: %v", err)
	}
	uses := map[string]int{}
	for _, g := range list {
		uses[g.Use]++
		for _, x := range g.Body {
			if strings.Contains(rules.String(), `"`+x+`"`) {
				t.Errorf("%s: the knowledge base has %q, too", g.File, x)
			}
		}
	}
	if uses[Choosing] < leastGold/3 || uses[Judging] < leastGold/3 {
		t.Errorf("pages for each half: %v", uses)
	}
}

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
	leastF1        = 0.87
	leastGenericF1 = 0.77
)

// TestAgain: the second reading is of pages that have gold, for judging; the two readers agree about them.
func TestAgain(t *testing.T) {
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Again()
	if err != nil {
		t.Fatal(err)
	}
	if len(second) < 15 {
		t.Errorf("%d pages were read again", len(second))
	}
	for _, g := range second {
		if g.Use != Judging || !slices.ContainsFunc(list, func(first Gold) bool { return first.File == g.File }) {
			t.Errorf("%s is read again for %s, or has no gold", g.File, g.Use)
		}
	}
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: the bodies of the two readings are not compared")
	}
	pages, err := Load(filepath.Join(data, "aah"), slices.DeleteFunc(list, func(g Gold) bool {
		return !slices.ContainsFunc(second, func(other Gold) bool { return other.File == g.File })
	}))
	if err != nil {
		t.Fatal(err)
	}
	read, err := Load(filepath.Join(data, "aah"), second)
	if err != nil {
		t.Fatal(err)
	}
	both, reader := Both(pages, read)
	for _, seen := range Measure(both, []System{reader}) {
		if s := seen.Scores[0]; s.Fault != "" || s.Match.F1 < 0.9 {
			t.Errorf("%s: F1 %.2f between the readers; %s", seen.File, s.Match.F1, s.Fault)
		}
	}
}

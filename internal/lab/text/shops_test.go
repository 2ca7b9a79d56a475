package text

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestShops: on constructed pages of shops, services and lists, in the templates of widely used themes, the generic layer finds what the page shows.
// The floors are a little below what was measured.
func TestShops(t *testing.T) {
	dir := filepath.Join("testdata", "shops")
	f, err := os.Open(filepath.Join(dir, "gold.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	list, err := Read(f, "gold.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Load(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	base, err := GenericBase(kb.Files())
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]float64{"all": 0.85, "product": 0.82, "listing": 0.79, "collection": 0.95, "service": 0.95}
	for _, row := range Sum(base.ID, Measure(pages, []System{Muninn("generic", base, false)}), 0).Rows {
		if row.Missed > 0 || row.Match.F1 < floors[row.Group] {
			t.Errorf("%s: body F1 %.3f, %d of %d missed; the floor is %.2f and none", row.Group, row.Match.F1, row.Missed, row.Bodied, floors[row.Group])
		}
	}
}

package bleve

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// TestSuite: what an index must do.
func TestSuite(t *testing.T) {
	searchtest.Run(t, func(t *testing.T) searchtest.Place {
		dir := t.TempDir()
		return searchtest.Place{Open: func(t *testing.T) search.Index {
			x, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}}
	})
}

// TestLongKnown: pages that are known to be there are found by words of their titles and by a sentence.
func TestLongKnown(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.CheckKnown(t, x, 400)
}

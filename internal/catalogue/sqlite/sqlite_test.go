package sqlite

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
)

func TestSuite(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalogue.Catalogue { return openIn(t, t.TempDir()) })
}

// openIn opens the catalogue of a folder; it is closed with the test.
func openIn(t testing.TB, dir string) *Catalogue {
	t.Helper()
	c, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

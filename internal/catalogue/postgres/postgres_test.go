package postgres_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
	"github.com/muninn-archive/muninn/internal/catalogue/postgres"
	"github.com/muninn-archive/muninn/internal/pgtest"
)

func TestSuite(t *testing.T) {
	server := pgtest.Start(t)
	catalogtest.Run(t, func(t *testing.T) catalogue.Catalogue { return openAt(t, server.Database(t)) })
}

// openAt opens the catalogue of a database; it is closed with the test.
func openAt(t testing.TB, where string) *postgres.Catalogue {
	t.Helper()
	c, err := postgres.Open(t.Context(), where)
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

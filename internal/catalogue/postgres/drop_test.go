package postgres_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/postgres"
	"github.com/muninn-archive/muninn/internal/pgtest"
)

// TestDropSchemas: a catalogue that others have open stays; then it is deleted, and one beside it is not.
func TestDropSchemas(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	segment := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "c"}, Name: "b.0-0123456789abcdef"}}
	open := func(schema string) (c *postgres.Catalogue, segments int) {
		t.Helper()
		c, err := postgres.OpenSchema(t.Context(), where, schema)
		if err == nil {
			err = c.Segments(t.Context(), func(catalogue.SegmentName) error { segments++; return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		return c, segments
	}
	drop := func(want bool) {
		t.Helper()
		if dropped, err := postgres.DropSchemas(t.Context(), where, "one", "none"); err != nil || dropped != want {
			t.Errorf("dropped %t, %v", dropped, err)
		}
	}
	for _, schema := range []string{"one", "other"} {
		c, _ := open(schema)
		if err := c.AddSegments(t.Context(), segment); err != nil {
			t.Fatal(err)
		}
		if schema == "one" {
			drop(false)
		}
		_ = c.Close()
	}
	drop(true)
	for schema, want := range map[string]int{"one": 0, "other": 1} {
		c, segments := open(schema)
		if _ = c.Close(); segments != want {
			t.Errorf("%s has %d segments, want %d", schema, segments, want)
		}
	}
}

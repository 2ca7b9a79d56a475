package bleve

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// TestWithin: months are searched that a period may have captures in, also up to the last year that a query can name.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		query, month string
		want         bool
	}{
		{"date:2026", "2026-03", true}, {"date:2025", "2026-03", false}, {"date:2027", "2026-03", false}, {"date:2026-03..2026-04", "2026-03", true},
		{"date:2000..9999", "2026-03", true}, {"date:..9999", "2026-03", true}, {"date:0001..9999", "2026-03", true}, {"date:9999", "9999-12", true},
		{"date:9999", "2026-03", false}, {"date:2000..9998", "2026-03", true}, {"date:2000..", "2026-03", true}, {"raven", "2026-03", true}, {"date:2025", noMonth, true},
	} {
		q, err := query.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := within(q, c.month); got != c.want {
			t.Errorf("%s in %s: %v", c.query, c.month, got)
		}
	}
}

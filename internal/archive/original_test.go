package archive_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestOriginals: of a whole page the validators are remembered, and a later capture with its payload is a revisit of it. Of what was cut off, of a part and of all other
// answers nothing is remembered by which a 304 could be taken for the page.
func TestOriginals(t *testing.T) {
	type edit = func(*crawl.Exchange)
	status := func(n int) edit { return func(x *crawl.Exchange) { x.Status = n } }
	cut := func(reason string) edit { return func(x *crawl.Exchange) { x.Truncated = reason } }
	for name, test := range map[string]struct {
		edit     edit
		original bool
		page     bool
	}{
		"page": {status(200), true, true}, "203": {status(203), true, true}, "part": {status(206), false, true},
		"cut by length": {cut("length"), false, true}, "cut by time": {cut("time"), false, true}, "broken off": {cut("disconnect"), false, true},
		"without header": {func(x *crawl.Exchange) { x.HeaderBytes, x.Fault = 0, "no header" }, false, true},
		"refused":        {func(x *crawl.Exchange) { x.Outcome.Kind = crawl.OutcomeFailed }, false, true},
		"robots.txt":     {func(x *crawl.Exchange) { x.Kind = crawl.ExchangeRobots }, false, true},
		"redirect":       {status(301), false, false}, "304 unasked": {status(304), false, false},
		"401": {status(401), false, false}, "403": {status(403), false, false}, "404": {status(404), false, false}, "410": {status(410), false, false}, "500": {status(500), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := plain("http://a.example/one", "<p>one")
			c.Outcome.Visit = crawl.Visit{ETag: `"1"`, LastModified: "Wed, 04 Mar 2026 05:00:00 GMT", Shown: 7}
			test.edit(&c.Exchange)
			_, recorded := segment(t, "b-1", unknown, c, plain("http://a.example/two", "<p>one"))
			first, second := recorded[0], recorded[1]
			if v := first.Visit; v.Digest != first.Digest || v.Shown != 7 || c.Kind == crawl.ExchangePage && v.Partial != (test.page && !test.original) {
				t.Errorf("remembered is %+v", v)
			}
			if kept := first.Visit.ETag != "" && first.Visit.LastModified != ""; c.Kind == crawl.ExchangePage && kept != test.original || !kept && first.Visit.ETag+first.Visit.LastModified != "" {
				t.Errorf("validators %q, %q", first.Visit.ETag, first.Visit.LastModified)
			}
			if first.Original != test.original || second.Revisit != test.original {
				t.Errorf("an original: %t; the next page is a revisit of it: %t", first.Original, second.Revisit)
			}
		})
	}
}

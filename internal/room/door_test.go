package room_test

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// TestRules: what is wrong with a file of rules is reported, each fault with its place.
func TestRules(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                  "",
		"otherwise: closed": "",
		"rules: [{crawl: c, from: 2027-01-31}, {host: a.example, embargo: 30d}, {site: b.example, access: closed}]": "",
		"otherwise: perhaps":                             "otherwise: \"perhaps\" is neither open nor closed",
		"rules: [{crawl: 'a/b'}]":                        "rules[0].crawl",
		"rules: [{}, {host: 'a.example/x'}]":             "rules[1].host",
		"rules: [{site: www.example.org}]":               "site: takes the name of a domain",
		"rules: [{site: a.example, host: b}]":            "rules[0].site: stands beside host",
		"rules: [{access: open-ish}]":                    "rules[0].access",
		"rules: [{from: tomorrow}]":                      "rules[0].from",
		"rules: [{embargo: 3w}]":                         "rules[0].embargo",
		"rules: [{embargo: 201y}]":                       "200 years at most",
		"rules: [{access: closed, embargo: 30d}]":        "leave one of them out",
		"rules: [{crawls: c}]":                           "crawls",
		"{":                                              "rules:",
		"rules:\n" + strings.Repeat("- crawl: c\n", 101): "at most 100",
	} {
		_, err := room.ReadRules([]byte(text))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// ruleFiles are rules, and which captures of the archive of ravens they show, by their URLs and days.
var ruleFiles = []struct {
	rules string
	shown []string // of a.example/, a.example/second, b.example/x
	some  string   // crawls of which something is shown
	whole string   // crawls of which all is shown
}{
	{"", []string{"/ 03-04", "/ 03-05", "/second 03-04", "/second 04-13", "/x 03-04"}, "c d", "c d"},
	{"otherwise: closed", nil, "", ""},
	{"{otherwise: closed, rules: [{crawl: d}]}", []string{"/x 03-04"}, "d", "d"},
	{"rules: [{crawl: d, access: closed}]", []string{"/ 03-04", "/ 03-05", "/second 03-04", "/second 04-13"}, "c", "c"},
	{"rules: [{host: a.example, access: closed}]", []string{"/x 03-04"}, "c d", ""},
	{"rules: [{site: b.example}, {access: closed}]", []string{"/x 03-04"}, "c d", ""},
	{"rules: [{crawl: c, site: b.example, access: closed}]", []string{"/ 03-04", "/ 03-05", "/second 03-04", "/second 04-13", "/x 03-04"}, "c d", "d"},
	{"rules: [{crawl: c, from: 2026-04-14}]", []string{"/ 03-04", "/ 03-05", "/second 03-04", "/second 04-13", "/x 03-04"}, "c d", "c d"},
	{"rules: [{crawl: c, from: 2026-04-16}]", []string{"/x 03-04"}, "d", "d"},
	{"rules: [{embargo: 40d}]", []string{"/ 03-04", "/second 03-04", "/x 03-04"}, "c d", ""},
	{"rules: [{crawl: c, embargo: 1d}]", []string{"/ 03-04", "/ 03-05", "/second 03-04", "/x 03-04"}, "c d", "d"},
	{"rules: [{crawl: c, embargo: 10y}, {access: closed}]", nil, "c", ""},
}

// TestDoor: the catalogue and the index show the same captures through the door, totals and facets count no others, and no page of a closed capture
// says anything of it. The last capture is of April 13, and it is the 14th, 21:06.
func TestDoor(t *testing.T) {
	r := ravens(t)
	r.now = time.Date(2026, 4, 14, 21, 6, 0, 0, time.UTC)
	r.open()
	for _, c := range ruleFiles {
		t.Run(c.rules, func(t *testing.T) {
			var err error
			if r.rules, err = room.ReadRules([]byte(c.rules)); err != nil {
				t.Fatal(err)
			}
			_, h := r.open()
			door := room.NewDoor(r.rules, r.views, r.views.Index, func() time.Time { return r.now })
			var shown []string
			for _, u := range []string{"http://a.example/", "http://a.example/second", "http://b.example/x"} {
				err := door.Captures(t.Context(), room.Lookup{URL: u}, func(e room.Entry) error {
					shown = append(shown, strings.TrimPrefix(u, u[:16])+e.Date.Format(" 01-02"))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if got, want := strings.Join(shown, ", "), strings.Join(c.shown, ", "); got != want {
				t.Errorf("the catalogue shows %s, want %s", got, want)
			}
			answer, err := door.Search(t.Context(), query.Query{Root: query.Is{Field: query.Type, Value: query.Page}}, search.Options{Limit: 100, Facets: true, Values: 20})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, shown := range c.shown {
				if shown != "/ 03-05" { // a revisit has no text of its own
					found = append(found, shown)
				}
			}
			if answer.Total != len(found) || len(answer.Hits) != len(found) {
				t.Errorf("the index shows %d of %d, want %v", len(answer.Hits), answer.Total, found)
			}
			n := 0
			for _, v := range answer.Facets[search.Domain].Values {
				n += v.N
			}
			if n != len(found) {
				t.Errorf("facets count %d, want %d", n, len(found))
			}
			for target, of := range map[string]string{"/capture?" + home + "&at=20260304050607": "/ 03-04", "/capture?url=http://b.example/x": "/x 03-04", "/capture?url=http://a.example/second&at=20260413050607": "/second 04-13"} {
				body := ask(t, h, target).Body.String()
				open := strings.Contains(strings.Join(c.shown, ",")+",", of+",")
				title := map[string]string{"/ 03-04": "diary", "/x 03-04": "elsewhere", "/second 04-13": "cousin"}[of]
				if strings.Contains(body, title) != open {
					t.Errorf("%s: shown is %v, want %v", target, !open, open)
				}
			}
			for _, name := range []string{"c", "d"} {
				some, whole := door.Crawl(name)
				if some != strings.Contains(c.some, name) || whole != strings.Contains(c.whole, name) {
					t.Errorf("crawl %s: %v, %v", name, some, whole)
				}
				if body := ask(t, h, "/crawl?name=c").Body.String(); strings.Contains(body, "refused") != strings.Contains(c.whole, "c") {
					t.Errorf("the page of crawl c shows its log")
				}
				if w := ask(t, h, "/file?crawl=c&name=definitions/run-1.json"); (w.Code == 200) != strings.Contains(c.whole, "c") {
					t.Errorf("a file of crawl c: %d", w.Code)
				}
			}
		})
	}
}

package activities

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
)

// TestConditionsOfPagesAlone: a page that was cut off is asked for plainly in the next run, and so archived whole once the limit allows it. So is a URL that has answered 404, though the error
// page has validators by which its host would answer 304. What has not changed is asked for on condition.
func TestConditionsOfPagesAlone(t *testing.T) {
	var mu sync.Mutex
	run, conditions := 0, map[string]bool{}
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		mu.Lock()
		defer mu.Unlock()
		header := "Content-Type: text/plain\r\nETag: \"1\"\r\nLast-Modified: Wed, 04 Mar 2026 05:00:00 GMT\r\n"
		switch {
		case q.URL.Path == "/gone" && run == 2:
			return 404, header, "There is no such page."
		case q.Header.Get("If-None-Match")+q.Header.Get("If-Modified-Since") != "":
			conditions[q.URL.Path] = true
			return 304, "ETag: \"1\"\r\n", ""
		case q.URL.Path == "/long":
			return 200, header, strings.Repeat("long ", 20_000)
		}
		return 200, header, "a page at " + q.URL.Path
	})
	r.edit = func(d *crawl.Definition) {
		d.Browser = crawl.BrowserNever
		d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "gone"}, crawl.Seed{URL: rigSeed + "long"})
	}
	for i, want := range []struct {
		limit     crawl.Bytes
		condition string // paths that are asked for on condition
		became    string // "new changed unchanged gone"
	}{
		{20_000, "", "3 0 0 0"}, {20_000, "/", "0 0 2 1"}, {1 << 20, "/", "1 1 1 0"}, {1 << 20, "/ /gone /long", "0 0 3 0"},
	} {
		run = i + 1
		clear(conditions)
		r.options.Limits.BodyBytes = want.limit
		r.Fetch = fetch.New(r.options)
		r.end(r.run())
		status, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		n := status.Totals
		asked := strings.Join(slices.Sorted(maps.Keys(conditions)), " ")
		if became := fmt.Sprint(n.New, n.Changed, n.Unchanged, n.Gone); asked != want.condition || became != want.became {
			t.Errorf("run %d: on condition %q, want %q; became %s, want %s", run, asked, want.condition, became, want.became)
		}
		r.conclude()
	}
	r.check(r.dir)
}

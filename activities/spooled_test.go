package activities

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/spool"
)

// TestEntries: of the log of a batch count the first exchange of each URL that it still has, and what is no page; not intents, and no 304 of a page that the archive
// does not have.
func TestEntries(t *testing.T) {
	const one, two = "http://a.example/one", "http://a.example/two"
	done, unmodified := crawl.Outcome{Kind: crawl.OutcomeDone}, crawl.Outcome{Kind: crawl.OutcomeUnmodified}
	page := func(url string, o crawl.Outcome) crawl.Exchange {
		return crawl.Exchange{Kind: crawl.ExchangePage, URL: url, Outcome: o}
	}
	retagged := unmodified
	retagged.Visit.ETag = "new"
	for _, c := range []struct {
		name string
		log  []crawl.Exchange
		want []int // of the log, that count
		tag  string
	}{
		{"two pages", []crawl.Exchange{page(one, done), page(two, done)}, []int{0, 1}, ""},
		{"an intent", []crawl.Exchange{{Kind: crawl.ExchangeIntent, URL: one}, page(one, done)}, []int{1}, ""},
		{"robots.txt", []crawl.Exchange{{Kind: crawl.ExchangeRobots, URL: "http://a.example/robots.txt"}, page(one, done)}, []int{0, 1}, ""},
		{"fetched twice", []crawl.Exchange{page(one, done), page(one, done)}, []int{0}, ""},
		{"another batch has it", []crawl.Exchange{page("http://a.example/three", done), page(one, done)}, []int{1}, ""},
		{"unmodified, of a known page", []crawl.Exchange{page(one, unmodified)}, []int{0}, "old"},
		{"unmodified, with another tag", []crawl.Exchange{page(one, retagged)}, []int{0}, "new"},
		{"opened", []crawl.Exchange{page(one, done), {Kind: crawl.ExchangeLoaded, URL: two, Via: one}, {Kind: crawl.ExchangeView, URL: one}, {Kind: crawl.ExchangeOpened, URL: one, Outcome: done}}, []int{0, 1, 2, 3}, ""},
		{"opened again, after a kill", []crawl.Exchange{page(one, done), {Kind: crawl.ExchangeView, URL: one, Started: time.Unix(1, 0)}, {Kind: crawl.ExchangeView, URL: one, Started: time.Unix(2, 0)}, {Kind: crawl.ExchangeOpened, URL: one, Started: time.Unix(2, 0), Outcome: done}}, []int{0, 2, 3}, ""},
		{"opened by another batch", []crawl.Exchange{{Kind: crawl.ExchangeLoaded, URL: two, Via: "http://a.example/three"}, {Kind: crawl.ExchangeOpened, URL: "http://a.example/three"}, page(one, done)}, []int{2}, ""},
		{"not opened in time", []crawl.Exchange{page(one, done), page(two, done), {Kind: crawl.ExchangeOpened, URL: one, Outcome: crawl.Outcome{Kind: crawl.OutcomeRetry}}}, []int{0, 1}, ""},
		{"unmodified, of a page that the archive lacks", []crawl.Exchange{page(two, unmodified)}, nil, ""},
	} {
		files, err := spool.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		b := files.Batch(rigCrawl, "a.example-1")
		log, _, err := b.OpenLog()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range c.log {
			x.IP = fmt.Sprint(i)
			if err := log.Append(x, nil, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		mine := map[string]crawl.Target{one: {URL: one, Previous: crawl.Visit{Digest: "sha1:A", ETag: "old"}}, two: {URL: two}}
		list, closer, err := entries(b, mine)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, e := range list {
			if got = append(got, e.IP); c.tag != "" && (e.Outcome.Visit.ETag != c.tag || e.Outcome.Visit.Digest != "sha1:A") {
				t.Errorf("%s: it is a revisit of %+v", c.name, e.Outcome.Visit)
			}
		}
		if again := strings.HasPrefix(c.name, "not opened"); len(list) > 0 && again != (list[0].Outcome.Kind == crawl.OutcomeRetry) {
			t.Errorf("%s: the first one has the outcome %s", c.name, list[0].Outcome.Kind)
		}
		for _, i := range c.want {
			want = append(want, fmt.Sprint(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v count, want %v", c.name, got, want)
		}
		if err := closer(); err != nil {
			t.Error(err)
		}
	}
	files, err := spool.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := entries(files.Batch(rigCrawl, "a.example-1"), nil); !errors.Is(err, spool.ErrMissing) {
		t.Errorf("of a batch without a log: %v", err)
	}
}

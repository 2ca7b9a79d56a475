package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// A spread crawl and a bound one ask sites that lie at two addresses each, from two workers: a site is asked by one lane at a time, and not before
// the pause after the request before it, whichever crawl, worker and address that was.
func TestSiteAtTwoAddresses(t *testing.T) {
	t.Parallel()
	siteAtTwoAddresses(t, 1, "127.97.5")
}

func siteAtTwoAddresses(t *testing.T, shards int, network string) {
	t.Helper()
	const pause, sites = 300 * time.Millisecond, 3
	names := map[string]string{}
	var ips, one, two []string
	for i := range 2 * sites {
		name := fmt.Sprintf("%c.raven%d.org", 'a'+i%2, i/2)
		ips = append(ips, fmt.Sprintf("%s.%d", network, i+1))
		names[name] = ips[i]
		one, two = append(one, name+"/one"), append(two, name+"/two")
	}
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		_, _ = fmt.Fprint(w, "<html><body>ravens")
		if strings.Count(r.URL.Path, "/") < 2 {
			for n := range 3 {
				_, _ = fmt.Fprintf(w, `<a href="%s/%d">more</a>`, r.URL.Path, n)
			}
		}
	}, ips...)
	server := StartServer(t)
	first, second := web.config(t, server, names), web.config(t, server, names)
	second.Name, second.Archive = "w2", first.Archive
	first.Shards, second.Shards = shards, shards
	StartWorker(t, first)
	StartWorker(t, second)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	bound, spread := web.definition("bound", one...), web.definition("spread", two...)
	spread.Spread = true
	for _, d := range []*crawl.Definition{&bound, &spread} {
		d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(pause), crawl.Duration(pause)
		StartCrawl(t, server.Client, *d)
	}
	for _, name := range []string{"bound", "spread"} {
		if result := Result(t, server.Client, name, CrawlTime); result.Totals.Pages != 8*sites {
			t.Errorf("%s has %d pages", name, result.Totals.Pages)
		}
	}
	last, changes := map[string]plainRequest{}, 0
	for _, x := range web.requests() {
		_, site, _ := strings.Cut(x.host, ".")
		before, is := last[site]
		if gap := x.start.Sub(before.end); is && gap < pause {
			t.Errorf("%s%s is asked %s after %s%s", x.host, x.path, gap, before.host, before.path)
		}
		if is && x.ip != before.ip && x.path[:4] != before.path[:4] {
			changes++
		}
		last[site] = x
	}
	if changes == 0 {
		t.Error("no crawl has asked a site after another one, at another address: the test tests nothing")
	}
}

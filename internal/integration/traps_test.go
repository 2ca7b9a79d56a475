package integration

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/endless"
)

// TestLongTraps crawls sites without end and honest ones together, by the defaults: each trap gives at most 50 useless pages, the honest sites are
// archived whole, and the crawl ends by itself.
func TestLongTraps(t *testing.T) {
	t.Parallel()
	world := Serve(t, endless.New(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr("127.96.0.1")}))
	d := Definition("traps", world)
	server := StartServer(t)
	dir := t.TempDir()
	conf := Config(server, world, dir)
	StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	out := Result(t, server.Client, d.Name, CrawlTime)
	if out.Reason != crawl.ReasonDrained {
		t.Errorf("the crawl ended by %s", out.Reason)
	}
	for _, trap := range out.Traps {
		t.Log(trap)
	}
	pages := map[string]int{} // by PLD
	for url := range Check(t, conf.Archive).Pages {
		u, err := urls.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := world.PageOf(url); p.Status == 200 && !strings.HasSuffix(url, crawl.IconPath) { // which is no page; traps answer with one
			pages[u.PLD()]++
		}
	}
	for _, s := range endless.Traps() {
		pld := urls.PLD(s.Host)
		t.Logf("%s: %d pages", s.Host, pages[pld])
		if pages[pld] > 50+s.Worth {
			t.Errorf("%s: %d pages of a trap", s.Host, pages[pld])
		}
	}
	for _, s := range endless.HonestSites() {
		if want := wholeSite(t, world, world.Host(s.Host).Base+"/"); pages[urls.PLD(s.Host)] != want {
			t.Errorf("%s: %d of %d pages", s.Host, pages[urls.PLD(s.Host)], want)
		}
	}
}

// wholeSite counts the pages that links lead to, requisites and dead links left out.
func wholeSite(t *testing.T, world *webworld.World, seed string) (pages int) {
	t.Helper()
	known, queue := map[string]bool{seed: true}, []string{seed}
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		status, header, body, _ := world.Answer(url)
		if status != 200 {
			continue
		}
		pages++
		for _, l := range page.Parse(page.Input{URL: url, MIME: header.Get("Content-Type"), Body: body}, page.DefaultLimits()).Links {
			if to, _, _ := strings.Cut(l.URL, "#"); !known[to] {
				known[to] = true
				queue = append(queue, to)
			}
		}
	}
	return pages
}

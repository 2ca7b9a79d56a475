package integration

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/endless"
)

// TestLongProbe crawls a site that says "not found" with status 200: at the server there is one probe, no request comes too early, and few pages are fetched.
func TestLongProbe(t *testing.T) {
	t.Parallel()
	sites := slices.DeleteFunc(endless.Sites(), func(s endless.Site) bool { return s.Host != "soft404.example" })
	world := Serve(t, endless.Of(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr("127.96.8.1"), Trace: true}, sites))
	d := Definition("probe", world)
	d.ProbeMissing = true
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(20*time.Millisecond), crawl.Duration(20*time.Millisecond)
	server := StartServer(t)
	conf := Config(server, world, t.TempDir())
	StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	Result(t, server.Client, d.Name, CrawlTime)
	trace := world.Trace()
	probes, pages := 0, 0
	for _, a := range trace {
		if traps.IsProbe(a.URL) {
			probes++
		}
		if p, _ := world.PageOf(a.URL); p.Status == 200 && !strings.HasSuffix(a.URL, "/robots.txt") {
			pages++
		}
	}
	if probes != 1 || pages > 40 {
		t.Errorf("%d probes and %d pages at the server", probes, pages)
	}
	for _, fault := range webworld.Impolite(trace, 0, func(string) time.Duration { return d.Politeness.MinDelay.D() }) {
		t.Error(fault)
	}
}

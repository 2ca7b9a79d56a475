package integration

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/replay"
	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
)

// TestSameOrder: the live crawl and the laboratory visit the same web in the same order.
func TestSameOrder(t *testing.T) {
	t.Parallel()
	sameOrder(t, crawl.StrategyFused, "127.96.0.1")
}

// TestLongSameOrder: the same for the other orders.
func TestLongSameOrder(t *testing.T) {
	t.Parallel()
	for i, strategy := range []string{crawl.StrategyWeighted, crawl.StrategyShark, crawl.StrategyPlaces, crawl.StrategyHMMAnchor} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			sameOrder(t, strategy, fmt.Sprintf("127.96.%d.1", i+1))
		})
	}
}

func sameOrder(t *testing.T, strategy, firstIP string) {
	t.Helper()
	server := StartServer(t)
	helper, err := aah.Open("", aah.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	world := Serve(t, scattered.New(webworld.Options{Seed: 3, FirstIP: netip.MustParseAddr(firstIP)}, 1))
	d := Definition("same-"+strategy, world)
	d.Order.Strategy, d.Order.PerQueue = strategy, 7
	d.Topic.Examples = []crawl.Example{{Text: "The raven flew over the old saga stones, and Odin looked up from his runes."}}
	pages := int64(20)
	d.Reference.Pages = &pages
	web, err := webs.World(world)
	if err != nil {
		t.Fatal(err)
	}
	if strategy == crawl.StrategyHMMAnchor { // which is trained with them
		d.Topic.Paths = [][]string{{web.Pages[40].URL, web.Pages[30].URL, web.Pages[50].URL}, {web.Pages[20].URL, web.Pages[50].URL}}
	}
	conf := Config(server, world, t.TempDir())
	conf.Lanes, conf.BundlePLDs = 1, 1
	w := StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	Result(t, server.Client, d.Name, CrawlTime)
	w.Stop()
	run, err := replay.Crawl(t.Context(), web, d, helper)
	if err != nil {
		t.Fatal(err)
	}
	live := slices.DeleteFunc(world.Stats().Order, func(url string) bool { return strings.HasSuffix(url, crawl.IconPath) }) // the laboratory has pages alone
	if len(live) != len(run.Visited) || len(live) < 100 {
		t.Errorf("%d pages live, %d in the laboratory", len(live), len(run.Visited))
	}
	for k := range min(len(live), len(run.Visited)) {
		if url := web.Pages[run.Visited[k].Page].URL; live[k] != url {
			t.Fatalf("page %d is %s live, %s in the laboratory", k, live[k], url)
		}
	}
}

package integration

import (
	"net/netip"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
)

// The goal of a focused crawl: the share of the relevant pages that it finds within a share of the budget.
const (
	focusRecall = 0.8
	focusShare  = 0.3
)

// TestFocused crawls a web of which a tenth is on the topic, in scattered places.
func TestFocused(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, scattered.New(webworld.Options{Seed: 1, FirstIP: netip.AddrFrom4([4]byte{127, 95, 0, 1})}, 16))
	d := Definition("focused", world)
	d.Scope.Within, d.Reference.Pages = crawl.WithinWeb, nil
	d.Order.PerQueue = 5 // a host has a hundred pages only
	pause := 20 * time.Millisecond
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(pause), crawl.Duration(time.Second)
	d.Budget.Pages = int64(len(world.Pages()))
	conf := Config(server, world, t.TempDir())
	w := StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	w.Stop()
	var curve []float64
	for tenth := range 10 {
		curve = append(curve, recall(world, int(d.Budget.Pages)*(tenth+1)/10))
	}
	t.Logf("recall by tenths of %d pages: %.2f; harvest ratio %.3f", d.Budget.Pages, curve, result.Harvest)
	if got := recall(world, int(focusShare*float64(d.Budget.Pages))); got < focusRecall {
		t.Errorf("%.0f %% of the relevant pages within %.0f %% of the budget, should be %.0f %%", 100*got, 100*focusShare, 100*focusRecall)
	}
	if curve[9] < 0.98 { // the budget may be spent before the last claims
		t.Errorf("%.1f %% of the relevant pages are never fetched", 100*(1-curve[9]))
	}
	polite(t, world.Stats(), pause)
}

// recall is the share of the relevant pages among the first so many responses.
func recall(world *webworld.World, responses int) float64 {
	relevant := map[string]bool{}
	for _, p := range world.Pages() {
		if p.Relevant {
			relevant[p.URL] = true
		}
	}
	all, order := len(relevant), world.Stats().Order
	for _, url := range order[:min(responses, len(order))] {
		delete(relevant, url)
	}
	return float64(all-len(relevant)) / float64(all)
}

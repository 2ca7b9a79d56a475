package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// startCut starts two workers that share an archive, the second of which can be cut off from Temporal.
func startCut(t *testing.T, server *Server, world *webworld.World) (archive string, second *link) {
	t.Helper()
	limits := ring.DefaultLimits()
	limits.Heartbeat = 3 * time.Second // so that its loss is noticed soon
	options := client.StartWorkflowOptions{ID: names.ClusterID, TaskQueue: names.ClusterQueue}
	if _, err := server.Client.ExecuteWorkflow(t.Context(), options, names.Cluster, activities.ClusterInput{Limits: limits}); err != nil {
		t.Fatal(err)
	}
	conf := Config(server, world, t.TempDir())
	StartWorker(t, conf)
	server.awaitRing(t, "w1: up, 1024 owned")
	second = newLink(t, "127.0.0.1:0", server.Address)
	other := Config(server, world, t.TempDir())
	other.Name, other.Archive, other.Temporal.Address = "w2", conf.Archive, second.address()
	StartWorker(t, other)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	return conf.Archive, second
}

// ownedPages are the allowed pages of a web in the partitions of a worker.
func ownedPages(t *testing.T, server *Server, world *webworld.World, worker string) map[string]bool {
	t.Helper()
	view, err := activities.ViewRing(t.Context(), server.Client, "")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, p := range world.Pages() {
		u, err := urls.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		if owner, owned := view.Owner(ring.PartitionOf(u.PLD())); p.Allowed && p.Status != 0 && owned && owner.Name == worker {
			pages[p.URL] = true
		}
	}
	return pages
}

// TestSpreadSilent: of two workers that crawl together one is cut off. The other asks the hosts of its own partitions for all of their pages meanwhile, although each
// batch finds links that are the silent one's. When that is back, it gets them: each page is archived once, and asked for once.
func TestSpreadSilent(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 41, Latency: 20 * time.Millisecond, Trace: true}, 12, 30))
	archive, second := startCut(t, server, world)
	own := ownedPages(t, server, world, "w1")
	d := Definition("silent", world)
	d.Spread, d.Scope.Within, d.Order.PerQueue = true, crawl.WithinWeb, 5
	StartCrawl(t, server.Client, d)
	asked := func() (n int) {
		for _, a := range world.Trace() {
			if own[a.URL] {
				n++
			}
		}
		return n
	}
	Until(t, CrawlTime, "the crawl has begun", func() string {
		if n := asked(); n < 5 {
			return fmt.Sprintf("%d pages", n)
		}
		return ""
	})
	second.cut()
	before, since := asked(), time.Now()
	Until(t, CrawlTime, "the pages of the worker that is there are requested", func() string {
		if n := asked(); n < len(own) {
			return fmt.Sprintf("%d of %d, %d when the other was cut off", n, len(own), before)
		}
		return ""
	})
	t.Logf("%d requests within %v after the other worker was cut off", asked()-before, time.Since(since).Round(time.Second))
	second.join()
	out := Result(t, server.Client, d.Name, CrawlTime)
	if out.Reason != crawl.ReasonDrained {
		t.Errorf("it ends: %s", out.Reason)
	}
	Once(t, Check(t, archive), world)
	if n := repeats(world.Stats()); n > 0 {
		t.Errorf("%d requests were repeated", n)
	}
	history, err := server.Run("workflow", "show", "--workflow-id", names.CrawlID(d.Name), "--output", "json")
	if err != nil || strings.Contains(history, `"signalName": "`+names.SignalOwes+`"`) {
		t.Errorf("batches say to the crawl that they owe, %v", err)
	}
}

package integration

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
	"github.com/muninn-archive/muninn/worker"
)

// TestSpreadFocus measures, in an archive, how soon one worker finds the pages of a topic, two that learn from each other, and two that do not. All have
// the same number of lanes. It takes minutes, and what it finds varies with the machine: it runs with MUNINN_MEASURE alone (docs/FOCUS.md).
func TestSpreadFocus(t *testing.T) {
	if os.Getenv("MUNINN_MEASURE") == "" {
		t.Skip("measures; set MUNINN_MEASURE=1")
	}
	const lanes = 4
	for seed := range uint64(2) {
		seed += 11
		for _, v := range []struct {
			name    string
			workers int
			every   int
		}{{"one worker", 1, 0}, {"two workers, updates", 2, worker.DefaultConfig().LearnEvery}, {"two workers, nothing", 2, 0}} {
			t.Run(fmt.Sprintf("webworld:16:%d/%s", seed, v.name), func(t *testing.T) {
				server := StartServer(t)
				world := Serve(t, scattered.New(webworld.Options{Seed: seed, FirstIP: netip.AddrFrom4([4]byte{127, 94, 0, 1})}, 16))
				d := Definition("focused", world)
				d.Scope.Within, d.Reference.Pages, d.Order.PerQueue = crawl.WithinWeb, nil, 5
				d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(100*time.Millisecond), crawl.Duration(time.Second)
				d.Budget.Pages, d.Spread = int64(len(world.Pages()))/2, v.workers > 1
				edit := func(conf *worker.Config) { conf.Lanes, conf.LearnEvery = lanes/v.workers, v.every }
				where := ""
				if d.Spread {
					where, _ = startSpread(t, server, world, edit)
				} else {
					conf := Config(server, world, t.TempDir())
					edit(&conf)
					where = conf.Archive
					StartWorker(t, conf)
				}
				StartCrawl(t, server.Client, d)
				from := time.Now()
				Result(t, server.Client, d.Name, CrawlTime)
				t.Logf("area %.3f, in %s", area(t, where, d.Name, world), time.Since(from).Round(time.Second))
			})
		}
	}
}

// area is the area under the curve of recall over the pages that an archive has of a crawl, in the order in which they were asked.
func area(t *testing.T, where, name string, world *webworld.World) float64 {
	t.Helper()
	store, err := archive.OpenDir(where)
	if err != nil {
		t.Fatal(err)
	}
	var asked []archive.Logged
	err = archive.Manifests(t.Context(), store, "", name, func(m archive.Manifest) error {
		return archive.ReadLog(context.Background(), store, &m, func(l archive.Logged) error {
			asked = append(asked, l)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(asked, func(a, b archive.Logged) int { return a.Time.Compare(b.Time) })
	relevant := map[string]bool{}
	for _, p := range world.Pages() {
		if p.Relevant {
			relevant[p.URL] = true
		}
	}
	all, found, sum, n := len(relevant), 0, 0.0, 0
	for _, l := range asked {
		if l.Kind != archive.LoggedKind(crawl.OutcomeDone) {
			continue
		}
		if relevant[l.URL] {
			delete(relevant, l.URL)
			found++
		}
		sum += float64(found) / float64(all)
		n++
	}
	return sum / float64(n)
}

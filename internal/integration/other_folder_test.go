package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// A worker that is started on another data folder takes no part in the crawls of the first, and says why: no batch counts as committed
// that its frontier does not know. Started on the right folder again, it continues, and archives every page once.
func TestLongOtherDataFolder(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9, Latency: 50 * time.Millisecond}, 2, 60))
	conf := Config(server, world, t.TempDir())
	d := Definition("folders", world)
	d.Order.PerQueue = 6
	w := StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	Until(t, soon, "the crawl has fetched pages", func() string {
		if world.Stats().Requested() < 20 {
			return "too few"
		}
		return ""
	})
	w.Stop()

	wrong := conf
	wrong.Data = t.TempDir()
	w = StartWorker(t, wrong)
	fetched := world.Stats().Requested()
	Until(t, soon, "the worker refuses the round", func() string {
		desc, err := server.Client.DescribeWorkflowExecution(t.Context(), names.ControllerID(d.Name, conf.Name), "")
		if err != nil {
			return err.Error()
		}
		for _, a := range desc.GetPendingActivities() {
			if text := a.GetLastFailure().GetMessage(); strings.Contains(text, "data folder") && strings.Contains(text, "setting data") {
				return ""
			}
		}
		return "no pending activity has failed for that reason"
	})
	if n := world.Stats().Requested(); n != fetched {
		t.Errorf("%d pages were fetched with the wrong folder", n-fetched)
	}
	w.Stop()

	StartWorker(t, conf)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Run != 1 || result.Totals.Failed > 0 {
		t.Errorf("%s, run %d, %+v", result.Reason, result.Run, result.Totals)
	}
	Once(t, Check(t, conf.Archive), world)
}

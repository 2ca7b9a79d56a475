package integration

import (
	"os"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// A worker that lost its data folder does not wait for the leases of the lost run: the first round of the next run reports all known
// claims to Politeness, and the addresses of the others rest for the longest usual pause.
func TestLostLeases(t *testing.T) {
	server, world := StartServer(t), demoWorld(t, "127.103.0.1")
	conf := Config(server, world, t.TempDir())
	d := Definition("lostleases", world)
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(2*time.Second), crawl.Duration(2*time.Second)

	world.SetLatency(time.Hour) // no answer comes, so that no batch ends, and none of the first leases, before the run is lost
	w := StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	leases := func() (n int) {
		state := server.shard(t)
		n, _, _ = state.Counts()
		return n
	}
	Until(t, soon, "leases are held", func() string {
		if leases() < 2 {
			return "there are none"
		}
		return ""
	})
	terminate := func(id string) {
		if err := server.Client.TerminateWorkflow(t.Context(), id, "", "a test"); err != nil {
			t.Log(err) // it may just have ended
		}
	}
	terminate(names.CrawlID(d.Name))
	w.Stop()
	Until(t, soon, "the batches are terminated", func() string {
		list, err := server.Client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType='Batch' AND ExecutionStatus='Running'"})
		if err != nil || len(list.GetExecutions()) == 0 {
			return ""
		}
		for _, e := range list.GetExecutions() {
			terminate(e.GetExecution().GetWorkflowId())
		}
		return "some run"
	})
	if err := os.RemoveAll(conf.Data); err != nil {
		t.Fatal(err)
	}

	world.SetLatency(0)
	w = StartWorker(t, conf)
	if n := leases(); n == 0 {
		t.Fatal("no lease was left behind: the test tests nothing")
	}
	d.Politeness.MinDelay, d.Politeness.MaxDelay = 0, 0
	d.Budget.Pages = 20
	begun := time.Now()
	StartCrawl(t, w.Client(), d)
	result := Result(t, w.Client(), d.Name, CrawlTime)
	if took := time.Since(begun); took > politeness.DefaultTTL/2 || result.Totals.Pages == 0 {
		t.Errorf("%d pages after %v", result.Totals.Pages, took)
	}
	t.Logf("the run after the loss took %v", time.Since(begun))
}

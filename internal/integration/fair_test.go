package integration

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// fairEnv, if set, makes TestFair measure.
const fairEnv = "MUNINN_FAIR"

// TestFair measures how long a crawl of ten pages takes alone, and beside a crawl whose batches keep all processors busy, and what
// it waits for. It only logs the result, because web, Temporal and worker share the processors here. It measures without pauses
// between requests, and with the default pauses of definitions.
func TestFair(t *testing.T) {
	if os.Getenv(fairEnv) == "" {
		t.Skip("set " + fairEnv + "=1 to measure a small crawl beside a large one")
	}
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7}, 401, 250))
	conf := Config(server, world, t.TempDir())
	StartWorker(t, conf)
	plans := map[string]crawl.Politeness{"no": {PerIP: 1}, "default": crawl.DefaultDefinition().Politeness}
	time1 := func(c client.Client, name, pauses string) time.Duration {
		d := Definition(name, world)
		d.Seeds, d.Scope.Within, d.Budget.Pages = d.Seeds[:1], crawl.WithinHost, 10
		d.Politeness.MinDelay, d.Politeness.MaxDelay, d.Politeness.Factor = plans[pauses].MinDelay, plans[pauses].MaxDelay, plans[pauses].Factor
		began := time.Now()
		StartCrawl(t, c, d)
		Result(t, c, name, CrawlTime)
		return time.Since(began)
	}
	time1(server.Client, "warm", "no")
	d := Definition("large", world)
	d.Seeds, d.Order.PerQueue, d.Scope.Within, d.Budget.Pages = d.Seeds[1:], 50, crawl.WithinHost, 100_000
	StartCrawl(t, server.Client, d)
	before := world.Stats().Requests
	Until(t, CrawlTime, "the large crawl is running", func() string {
		if n := world.Stats().Requests - before; n < 300 {
			return fmt.Sprintf("%d requests", n)
		}
		return ""
	})
	median := func(name, pauses string) time.Duration {
		var took []time.Duration
		for i := range 3 {
			took = append(took, time1(server.Client, fmt.Sprint(name, pauses, i), pauses))
		}
		slices.Sort(took)
		return took[1].Round(10 * time.Millisecond)
	}
	beside := map[string]time.Duration{}
	for pauses := range plans {
		beside[pauses] = median("beside", pauses)
	}
	n := world.Stats().Requests
	waits(t, server, "besideno2")
	if err := server.Client.TerminateWorkflow(t.Context(), "crawl/large", "", "measured"); err != nil {
		t.Fatal(err)
	}
	Until(t, CrawlTime, "the large crawl is gone", func() string {
		if batches := server.list(t, "MuninnCrawl='large' AND ExecutionStatus='Running'"); len(batches) > 0 {
			return fmt.Sprintf("%d workflows run", len(batches))
		}
		return ""
	})
	for pauses := range plans {
		t.Logf("ten pages with %s pauses: %v alone, %v beside a crawl with %d requests, median of three", pauses, median("alone", pauses), beside[pauses], n)
	}
}

// waits logs what the workflows of a crawl waited for longer than a fifth of a second.
func waits(t *testing.T, server *Server, name string) {
	for _, e := range server.list(t, "MuninnCrawl = '"+name+"'") {
		events := server.Client.GetWorkflowHistory(t.Context(), e.Execution.WorkflowID, e.Execution.RunID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		line, last, steps := "", time.Time{}, map[int64]string{}
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				break
			}
			what := event.GetEventType().String()
			if a := event.GetActivityTaskScheduledEventAttributes(); a != nil {
				steps[event.GetEventId()] = a.GetActivityType().GetName()
			} else if a := event.GetActivityTaskStartedEventAttributes(); a != nil {
				what = "start of " + steps[a.GetScheduledEventId()]
			} else if a := event.GetActivityTaskCompletedEventAttributes(); a != nil {
				what = "end of " + steps[a.GetScheduledEventId()]
			}
			at := event.GetEventTime().AsTime()
			if gap := at.Sub(last); gap > 200*time.Millisecond && !last.IsZero() {
				line += fmt.Sprintf(" %.1fs before %s;", gap.Seconds(), what)
			}
			last = at
		}
		t.Logf("%s:%s", e.Execution.WorkflowID, line)
	}
}

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
)

// Where an execution is reset to, as a part of its workflow tasks: `temporal workflow reset --type FirstWorkflowTask`, one by its event, and --type LastWorkflowTask.
const (
	toFirst  = 0.0
	toMiddle = 0.5
	toLast   = 1.0
)

// tasks are the workflow tasks that a run has completed, by their events.
func (s *Server) tasks(t *testing.T, id, run string) (list []int64) {
	t.Helper()
	events := s.Client.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			list = append(list, e.GetEventId())
		}
	}
	return list
}

// reset resets a workflow as an operator does by the Temporal UI or its command line, and returns the run that continues it.
func (s *Server) reset(t *testing.T, id string, to float64) string {
	t.Helper()
	return s.resetRun(t, id, "", to)
}

// resetRun resets a run of a workflow, "": the latest one.
func (s *Server) resetRun(t *testing.T, id, run string, to float64) string {
	t.Helper()
	var tasks []int64
	Until(t, soon, id+" has completed a workflow task", func() string {
		if tasks = s.tasks(t, id, run); len(tasks) == 0 {
			return "none"
		}
		return ""
	})
	event := tasks[int(to*float64(len(tasks)-1))]
	out, err := s.Client.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &common.WorkflowExecution{WorkflowId: id, RunId: run}, Reason: "a test",
		WorkflowTaskFinishEventId: event, RequestId: uuid.NewString(),
	})
	if err != nil {
		t.Fatalf("reset %s to event %d: %v", id, event, err)
	}
	t.Logf("%s is reset to event %d, task %.1f of %d", id, event, to*float64(len(tasks)-1)+1, len(tasks))
	return out.GetRunId()
}

// resettable is a crawl of two workers, and what of it is reset.
type resettable struct {
	*Server
	t     *testing.T
	world *webworld.World
	name  string
}

func (r *resettable) crawl(to float64) { r.reset(r.t, names.CrawlID(r.name), to) }
func (r *resettable) controller(to float64) {
	r.reset(r.t, r.controllerOf(r.t, r.name, "w1"), to)
}

// batch resets a batch in a state.
func (r *resettable) batch(status string, to float64) {
	var list []execution
	Until(r.t, soon, "a batch is "+status, func() string {
		if list = r.list(r.t, batches(r.name, status)); len(list) == 0 {
			return "none is"
		}
		return ""
	})
	r.reset(r.t, list[0].Execution.WorkflowID, to)
}

// more waits until so many more pages are served.
func (r *resettable) more(pages int) {
	s := r.world.Stats()
	awaitPages(r.t, r.world, s.Requests-s.Robots+pages)
}

// resetDelay is the pause at an address.
const resetDelay = 100 * time.Millisecond

// resetWhile runs a crawl of two workers, resets what do says, and counts at the servers and in the archive.
func resetWhile(t *testing.T, hosts, pages int, edit func(*crawl.Definition), do func(r *resettable)) {
	t.Helper()
	server := StartServer(t)
	world := Serve(t, bench.NewShared(webworld.Options{Seed: 41, Latency: 20 * time.Millisecond}, hosts, pages, 2))
	archive, workers := startSpread(t, server, world, nil)
	d := Definition("reset", world)
	d.Spread, d.Order.PerQueue = true, 4
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(resetDelay), crawl.Duration(resetDelay)
	edit(&d)
	begun := time.Now()
	StartCrawl(t, server.Client, d)
	awaitPages(t, world, hosts/2)
	do(&resettable{server, t, world, d.Name})
	out := Result(t, server.Client, d.Name, CrawlTime)
	report := Check(t, archive)
	polite(t, world.Stats(), resetDelay)
	archived := int64(0)
	for _, p := range world.Pages() {
		if n := report.Pages[p.URL]; n > 1 {
			t.Errorf("%s is archived %d times", p.URL, n)
		} else if p.Status == http.StatusOK {
			archived += int64(n)
		}
	}
	t.Logf("%d pages in %v: %s", out.Totals.Pages, time.Since(begun), out.Reason)
	if archived != out.Totals.Pages {
		t.Errorf("%d pages are archived, and %d are counted\n%s", archived, out.Totals.Pages, server.lostPages(t, d, archive, workers))
	}
	switch out.Reason {
	case crawl.ReasonDrained:
		Once(t, report, world)
	case crawl.ReasonPages:
		if out.Totals.Pages > d.Budget.Pages || out.Totals.Pages < d.Budget.Pages*9/10 {
			t.Errorf("%d pages of a budget of %d", out.Totals.Pages, d.Budget.Pages)
		}
	}
}

// nothing leaves a definition as it is.
func nothing(*crawl.Definition) {}

// TestResets: while two workers crawl, an operator resets a controller, the crawl itself, a batch that runs and one that is completed. Each page is archived once, no
// address is asked twice at a time or too early, the totals are true, and what is asked of the crawl afterwards is obeyed.
func TestResets(t *testing.T) {
	t.Parallel()
	resetWhile(t, 12, 12, nothing, func(r *resettable) {
		r.controller(toMiddle)
		r.batch("Running", toFirst)
		r.crawl(toLast)
		r.more(12)
		r.batch("Completed", toMiddle)
		r.crawl(toFirst)
	})
}

// TestLongResets: each is reset to several moments.
func TestLongResets(t *testing.T) {
	t.Parallel()
	all := func(r *resettable, reset func(to float64)) {
		for _, to := range []float64{toLast, toMiddle, toFirst} {
			reset(to)
			r.more(20)
		}
	}
	for name, do := range map[string]func(r *resettable){
		"crawl":           func(r *resettable) { all(r, r.crawl) },
		"controller":      func(r *resettable) { all(r, r.controller) },
		"batch":           func(r *resettable) { all(r, func(to float64) { r.batch("Running", to) }) },
		"completed batch": func(r *resettable) { all(r, func(to float64) { r.batch("Completed", to) }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resetWhile(t, 24, 20, nothing, do)
		})
	}
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		resetWhile(t, 24, 20, func(d *crawl.Definition) { d.Budget.Pages = 200 }, func(r *resettable) { r.more(50); r.crawl(toFirst); r.more(20); r.crawl(toMiddle) })
	})
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		resetWhile(t, 24, 20, nothing, func(r *resettable) {
			r.crawl(toLast)
			if err := r.Client.SignalWorkflow(t.Context(), names.CrawlID(r.name), "", names.SignalStop, nil); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// TestResetOfTerminated: an operator terminates a crawl, and resets it then. Its controllers have ended with it, and nobody reports that to the execution after the reset. It continues
// with others.
func TestResetOfTerminated(t *testing.T) {
	t.Parallel()
	resetWhile(t, 12, 12, nothing, func(r *resettable) {
		r.terminate(t, r.name)
		r.crawl(toLast)
	})
}

// terminate terminates a crawl, and waits until its controllers are terminated with it.
func (s *Server) terminate(t *testing.T, name string) {
	t.Helper()
	if err := s.Client.TerminateWorkflow(t.Context(), names.CrawlID(name), "", "a test"); err != nil {
		t.Fatal(err)
	}
	Until(t, soon, "the controllers are terminated", func() string {
		if list := s.list(t, strings.Replace(batches(name, "Running"), "'Batch'", "'"+names.FetcherController+"'", 1)); len(list) > 0 {
			return "one runs"
		}
		return ""
	})
}

// TestLongResetOfCompleted: an operator resets a crawl that is completed. To a moment after its workers have begun the run, nothing is asked for, and it ends as it has ended. To the first moment it
// begins another run, as `muninn start` does.
func TestLongResetOfCompleted(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.NewShared(webworld.Options{Seed: 43}, 6, 8, 2))
	archive := spreadWorkers(t, server, world)
	d := Definition("completed", world)
	d.Spread, d.Order.PerQueue = true, 4
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(resetDelay), crawl.Duration(resetDelay)
	StartCrawl(t, server.Client, d)
	before := Result(t, server.Client, d.Name, CrawlTime)
	Once(t, Check(t, archive), world)
	asked, first := world.Stats().Requests, server.runOf(t, names.CrawlID(d.Name))
	for _, to := range []float64{toLast, toMiddle, toFirst} {
		of := ""
		if to == toFirst { // after a reset the crawl may continue as new (replaceController): the beginning of such an execution is not that of the crawl
			of = first
		}
		server.resetRun(t, names.CrawlID(d.Name), of, to)
		again := Result(t, server.Client, d.Name, CrawlTime)
		if n := world.Stats().Requests - asked; to != toFirst && (n != 0 || again.Run != 1 || again.Reason != before.Reason || again.Totals != before.Totals) {
			t.Errorf("reset to %v, run %d asks for %d URLs and ends: %s, %+v; it had ended: %s, %+v", to, again.Run, n, again.Reason, again.Totals, before.Reason, before.Totals)
		} else if to == toFirst && (again.Run != 2 || again.Totals.Unchanged != before.Totals.Pages) {
			t.Errorf("reset to the first task, run %d has %+v; the first run had %+v", again.Run, again.Totals, before.Totals)
		}
	}
	polite(t, world.Stats(), resetDelay)
}

// TestResetForgets: a politeness shard that is reset does not know which leases it has granted since, and the ring not how it has changed. Both end, and the workers
// start them again as after a termination: no address is granted before all leases have run out, and no partition before all permits, by the limits that the ring had.
func TestResetForgets(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	startCluster(t, server, worker.Config{})
	limits := server.limits(t)
	world := Serve(t, bench.NewShared(webworld.Options{Seed: 42, Latency: 100 * time.Millisecond}, 12, 12, 2))
	conf := Config(server, world, t.TempDir())
	w := StartWorker(t, conf)
	server.awaitRing(t, "w1: up, 1024 owned")
	d := Definition("forgets", world)
	d.Order.PerQueue = 1
	StartCrawl(t, server.Client, d)
	awaitPages(t, world, 12)
	server.resetForgets(t, names.PolitenessID(0), toMiddle)
	if state := server.shard(t); time.Until(state.Floor) < politeness.DefaultTTL-5*time.Minute {
		t.Errorf("unknown addresses are granted from %v on", state.Floor)
	}
	server.resetForgets(t, names.ClusterID, toMiddle)
	server.awaitRing(t, "w1: up")
	if now := server.limits(t); now != limits {
		t.Errorf("the ring has the limits %+v; it had %+v", now, limits)
	}
	if err := server.Client.TerminateWorkflow(t.Context(), names.CrawlID(d.Name), "", "the shard grants nothing for 15 minutes"); err != nil {
		t.Fatal(err)
	}
	w.Stop()
	polite(t, world.Stats(), 0)
}

// limits are those with which the ring was started that runs.
func (s *Server) limits(t *testing.T) ring.Limits {
	t.Helper()
	first, err := s.Client.GetWorkflowHistory(t.Context(), names.ClusterID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	var in activities.ClusterInput
	if err == nil {
		err = converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in.Limits
}

// TestLongResetForgets: a crawl of two workers whose shard and whose ring are reset to several moments comes to its end: each page is archived once, and no address is asked
// twice at a time or too early.
func TestLongResetForgets(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	startCluster(t, server, worker.Config{})
	world := Serve(t, bench.NewShared(webworld.Options{Seed: 42, Latency: 20 * time.Millisecond}, 24, 12, 2))
	archive, workers := startSpread(t, server, world, nil)
	d := Definition("forgets", world)
	d.Spread, d.Order.PerQueue = true, 4
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(resetDelay), crawl.Duration(resetDelay)
	StartCrawl(t, server.Client, d)
	r := &resettable{server, t, world, d.Name}
	for _, id := range []string{names.PolitenessID(0), names.ClusterID} {
		r.more(24)
		for _, to := range []float64{toLast, toMiddle, toFirst} {
			server.resetForgets(t, id, to)
		}
		if id == names.PolitenessID(0) {
			r.endGrace()
		}
	}
	if status := server.status(t, names.CrawlID(d.Name)); status != "RUNNING" {
		t.Errorf("the crawl was %s as the ring was reset: the test tests little", status)
	}
	out := Result(t, server.Client, d.Name, CrawlTime)
	report := Check(t, archive)
	Once(t, report, world)
	polite(t, world.Stats(), resetDelay)
	if out.Reason != crawl.ReasonDrained || out.Totals.Pages != 24*12 {
		t.Errorf("%d pages: %s\n%s", out.Totals.Pages, out.Reason, server.lostPages(t, d, archive, workers))
	}
}

// endGrace has the shard grant what it does not know, which it does otherwise once all leases of its former execution have run out: 15 minutes after that. It waits until
// no batch has one, and claims wait once more.
func (r *resettable) endGrace() {
	r.t.Helper()
	var state politeness.State
	Until(r.t, soon, "no batch runs, and claims wait", func() string {
		if list := r.list(r.t, batches(r.name, "Running")); len(list) > 0 {
			return fmt.Sprintf("%d batches run", len(list))
		}
		state = r.shard(r.t)
		if held, waiting, _ := state.Counts(); held > 0 || waiting == 0 {
			return fmt.Sprintf("%d leases are held, %d asks wait", held, waiting)
		}
		return ""
	})
	raw, err := json.Marshal(&state)
	if err != nil {
		r.t.Fatal(err)
	}
	moment := func(at time.Time) []byte { return []byte(at.UTC().Format(time.RFC3339Nano)) }
	raw = bytes.ReplaceAll(raw, moment(state.Floor), moment(time.Now())) // that of the shard, and of each address that was asked for since
	_, err = r.Client.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{
		ID: names.PolitenessID(0), TaskQueue: names.ClusterQueue, Memo: map[string]any{"shards": 1},
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING, WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, names.Politeness, map[string]any{"shards": 1, "state": json.RawMessage(raw)})
	if err != nil {
		r.t.Fatal(err)
	}
}

// resetForgets resets a workflow that has to end, waits until it is started again, and returns the run that has ended.
func (s *Server) resetForgets(t *testing.T, id string, to float64) (former string) {
	t.Helper()
	former = s.reset(t, id, to)
	Until(t, soon, id+" ends and is started again", func() string {
		if run := s.runOf(t, id); run == former {
			return "it runs"
		}
		return ""
	})
	err := s.Client.GetWorkflow(t.Context(), id, former).Get(t.Context(), nil)
	var lost *temporal.ApplicationError
	if !errors.As(err, &lost) || lost.Type() != activities.ErrorReset {
		t.Errorf("%s ends with %v", id, err)
	}
	return former
}

// runOf is the latest run of a workflow.
func (s *Server) runOf(t *testing.T, id string) string {
	t.Helper()
	d, err := s.Client.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

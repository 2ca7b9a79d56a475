package integration

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// recordEnv, if set, makes TestRecordHistories record the histories that workflows' replay test replays.
const recordEnv = "MUNINN_RECORD"

// recordFolder has the histories of the code that is to be released. A release renames it to its version.
const recordFolder = "next"

// maxPlain is the size in bytes beyond which a history is stored compressed.
const maxPlain = 150 << 10

// recorder writes histories without the data of the recording machine.
type recorder struct {
	t      *testing.T
	server *Server
	hide   *strings.Replacer
}

// controllerOf is the workflow ID of the controller of a worker in a crawl that is spread.
func (s *Server) controllerOf(t *testing.T, name, worker string) (id string) {
	t.Helper()
	Until(t, soon, worker+" is a member of "+name, func() string { // the other one may have begun before it; a busy server gives a query up after some seconds
		var state workflows.CrawlState
		value, err := s.Client.QueryWorkflow(t.Context(), names.CrawlID(name), "", names.QueryStatus)
		if err == nil {
			err = value.Get(&state)
		}
		if err != nil {
			return err.Error()
		}
		for _, m := range state.Members {
			if m.Worker == worker && !m.Gone {
				id = m.ControllerID(name)
				if _, err := s.Client.DescribeWorkflowExecution(t.Context(), id, ""); err != nil { // it is started after that
					return err.Error()
				}
				return ""
			}
		}
		return fmt.Sprintf("%+v", state.Members)
	})
	return id
}

func TestRecordHistories(t *testing.T) {
	if record := os.Getenv(recordEnv); record == "" || record == recordDerive {
		t.Skip("set " + recordEnv + "=1 to record workflows/testdata/histories/" + recordFolder + " again")
	}
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7}, 6, 120))
	dir := t.TempDir()
	conf := Config(server, world, dir)
	lost := startCluster(t, server, conf)
	StartWorker(t, conf)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t, server, strings.NewReplacer(dir, "/srv/muninn", "127.77.", "10.77.", host+":", "worker:", "@"+host+"/", "@worker/")}

	// A crawl with all phases, signals and submitted URLs.
	d := Definition("ravens", world)
	d.Order.PerQueue, d.Budget.Pages = 6, 40
	d.Reference.Pages = new(int64)
	*d.Reference.Pages = 8
	StartCrawl(t, server.Client, d)
	signal := func(name string, arg any) {
		if err := server.Client.SignalWorkflow(t.Context(), names.CrawlID(d.Name), "", name, arg); err != nil {
			t.Fatal(err)
		}
	}
	signal(names.SignalPause, nil)
	submit(t, server.Client, d.Name, frontier.Submission{Discovery: crawl.Discovery{URL: world.Seeds()[0] + "lost", Path: "S", Score: 0.5}})
	signal(names.SignalResume, nil)
	derived := startDerivation(t, server, d.Name)
	Result(t, server.Client, d.Name, CrawlTime)
	if err := derived.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.record("derive", names.DeriveID(d.Name), "")
	r.record("crawl", names.CrawlID(d.Name), "")
	r.record("controller", names.ControllerID(d.Name, conf.Name), "")
	r.record("politeness", names.PolitenessID(0), "")
	done := server.list(t, batches(d.Name, "Completed"))
	r.record("batch", done[0].Execution.WorkflowID, done[0].Execution.RunID)

	// A batch that failed, because its working files cannot be written, and the run that a reset made of it.
	d = Definition("mended", world)
	d.Budget.Pages = 40
	world.SetLatency(obstructed)
	StartCrawl(t, server.Client, d)
	repair := obstruct(t, world, conf, d.Name, 1)
	var failed []execution
	Until(t, soon, "a batch fails", func() string {
		if failed = server.list(t, batches(d.Name, "Failed")); len(failed) == 0 {
			return "none has failed"
		}
		return ""
	})
	id, run := failed[0].Execution.WorkflowID, failed[0].Execution.RunID
	repair()
	server.temporal(t, "workflow", "reset", "--workflow-id", id, "--run-id", run, "--type", "FirstWorkflowTask", "--reason", "the disk is repaired")
	server.awaitStatus(t, id, "COMPLETED")
	r.record("batch-failed", id, run)
	r.record("batch-reset", id, "")
	Result(t, server.Client, d.Name, CrawlTime)

	// A crawl of as many rounds as make its controller continue as new.
	d = Definition("long", world)
	d.Order.PerQueue, d.Seeds, d.Scope.Within = 1, d.Seeds[:1], crawl.WithinHost
	StartCrawl(t, server.Client, d)
	Result(t, server.Client, d.Name, CrawlTime)
	var runs []execution
	server.JSON(t, &runs, "workflow", "list", "--query", fmt.Sprintf("WorkflowId = '%s'", names.ControllerID(d.Name, conf.Name)))
	for _, run := range runs {
		switch run.Status {
		case "WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW":
			r.record("controller-continued", run.Execution.WorkflowID, run.Execution.RunID)
		case "WORKFLOW_EXECUTION_STATUS_COMPLETED":
			r.record("controller-continuing", run.Execution.WorkflowID, run.Execution.RunID)
		}
	}
	if len(runs) < 2 {
		t.Errorf("the controller of %s has not continued as new", d.Name)
	}

	// A crawl that is cancelled while batches are in progress.
	d = Definition("cancelled", world)
	world.SetLatency(500 * time.Millisecond)
	StartCrawl(t, server.Client, d)
	Until(t, soon, "leases are held", func() string {
		if held(server.shard(t)) == "" {
			return "there are none"
		}
		return ""
	})
	if err := server.Client.CancelWorkflow(t.Context(), names.CrawlID(d.Name), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Ending(t, server.Client, d.Name, soon); err == nil {
		t.Error("a crawl that was cancelled has a result")
	}
	r.record("crawl-cancelled", names.CrawlID(d.Name), "")

	// A ring that a worker has joined, handed over to, and left; another one was lost, and was given up. A spread crawl sees all of it.
	joining := Config(server, world, filepath.Join(dir, "joining"))
	joining.Name, joining.Archive = "w2", conf.Archive
	second := StartWorker(t, joining)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	world.SetLatency(200 * time.Millisecond)
	spread := Definition("spread", world)
	spread.Spread, spread.Order.PerQueue, spread.Budget.Pages = true, 6, 1<<20 // as much as allows it to be halved often
	before := world.Stats().Requests
	StartCrawl(t, server.Client, spread)
	Until(t, soon, "the spread crawl has some pages", func() string {
		if n := world.Stats().Requests - before; n < 20 {
			return fmt.Sprintf("%d requests", n)
		}
		return ""
	})
	steered := server.controllerOf(t, spread.Name, conf.Name)
	if err := server.Client.TerminateWorkflow(t.Context(), steered, "", "its crawl starts it again"); err != nil {
		t.Fatal(err)
	}
	for budget := spread.Budget.Pages; !r.hasChange(steered, "", "steer"); budget /= 2 { // a worker is asked to return a part while a round is in progress
		if budget < 2000 {
			budget = spread.Budget.Pages
		}
		configured(t, server.Client, spread.Name, fmt.Sprintf(`{"budget": {"pages": %d}}`, budget))
		n := world.Stats().Requests
		Until(t, soon, "both workers have had a round", func() string {
			if now := world.Stats().Requests; now < n+10 {
				return fmt.Sprintf("%d of %d requests", now, n+10)
			}
			return ""
		})
	}
	lost("w1: up, 512 owned", "w2: up, 512 owned")
	second.Stop()
	server.awaitRing(t, "w1: up, 1024 owned")
	world.SetLatency(0)
	Result(t, server.Client, spread.Name, CrawlTime)
	r.record("crawl-spread", names.CrawlID(spread.Name), "")
	r.record("controller-spread", steered, "")
	delivered := server.list(t, batches(spread.Name, "Completed"))
	i := slices.IndexFunc(delivered, func(b execution) bool {
		id, run := b.Execution.WorkflowID, b.Execution.RunID
		return r.asks(b, "Deliver") && r.hasChange(id, run, "owes-at-once")
	})
	if i < 0 {
		t.Fatalf("none of %d batches of the spread crawl has delivered links that no worker took at once", len(delivered))
	}
	r.record("batch-spread", delivered[i].Execution.WorkflowID, delivered[i].Execution.RunID)
	r.record("cluster", names.ClusterID, "")
	r.record("controller-cancelled", names.ControllerID(d.Name, conf.Name), "")

	// What an operator has reset: a crawl that was terminated, a shard of politeness, and the ring.
	d = Definition("reset", world)
	world.SetLatency(200 * time.Millisecond)
	StartCrawl(t, server.Client, d)
	(&resettable{server, t, world, d.Name}).more(20)
	server.terminate(t, d.Name)
	reset := server.reset(t, names.CrawlID(d.Name), toLast)
	world.SetLatency(0)
	Result(t, server.Client, d.Name, CrawlTime)
	if !r.hasChange(names.CrawlID(d.Name), reset, "vacant") {
		t.Error("the crawl that was reset has not looked for its controllers")
	}
	r.record("crawl-reset", names.CrawlID(d.Name), reset)
	ended := server.reset(t, names.PolitenessID(0), toMiddle) // no crawl runs that would start it again
	server.awaitStatus(t, names.PolitenessID(0), "FAILED")
	r.record("politeness-reset", names.PolitenessID(0), ended)
	r.record("cluster-reset", names.ClusterID, server.resetForgets(t, names.ClusterID, toMiddle))

	// A shard that an earlier version has started on the queue of a worker, and that a worker moves.
	moves := names.PolitenessID(1)
	options := client.StartWorkflowOptions{ID: moves, TaskQueue: names.TaskQueue}
	first, err := server.Client.ExecuteWorkflow(t.Context(), options, names.Politeness, activities.PolitenessInput{Shard: 1, Shards: 2})
	if err == nil {
		err = server.Client.SignalWorkflow(t.Context(), moves, "", names.SignalMove, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	Until(t, soon, "the shard moves", func() string {
		if r.hasChange(moves, first.GetRunID(), "move") {
			return ""
		}
		return "it has not"
	})
	r.record("politeness-moved", moves, first.GetRunID())
}

// startCluster starts Cluster with short limits, before there is a worker. lost registers a worker without a heartbeat, and waits until the ring
// has given it up and is what it was then.
func startCluster(t *testing.T, server *Server, conf worker.Config) (lost func(then ...string)) {
	limits := ring.Limits{Heartbeat: 5 * time.Second, Permit: 6 * time.Second, Grace: 6*time.Second + ring.Margin, CloseWithin: 5 * time.Second}
	_, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.ClusterID, TaskQueue: names.ClusterQueue}, names.Cluster, activities.ClusterInput{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return func(then ...string) {
		a, err := activities.RegisterInRing(t.Context(), server.Client, ring.Registration{Name: "lost", Instance: "lost", Process: "lost", Queue: "queue/lost", Shards: conf.Shards})
		if err != nil || !a.Accepted {
			t.Fatalf("%+v, %v", a, err)
		}
		server.awaitRing(t, then...)
	}
}

// record writes the history of a run, the latest if run is empty.
func (r *recorder) record(name, id, run string) {
	r.t.Helper()
	h := r.history(id, run)
	raw, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(h)
	if err != nil {
		r.t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		r.t.Fatal(err)
	}
	if raw, err = json.Marshal(r.clean(tree)); err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(Root(r.t), "workflows", "testdata", "histories", recordFolder, name+".json")
	_ = os.Remove(file)
	_ = os.Remove(file + ".gz")
	if len(raw) > maxPlain {
		var zipped bytes.Buffer
		z, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		_, _ = z.Write(raw)
		if err := z.Close(); err != nil {
			r.t.Fatal(err)
		}
		raw, file = zipped.Bytes(), file+".gz"
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.t.Logf("%s: %d events, %d bytes", filepath.Base(file), len(h.Events), len(raw))
}

// history is the history of a run, the latest if run is empty.
func (r *recorder) history(id, run string) *history.History {
	r.t.Helper()
	h := &history.History{}
	events := r.server.Client.GetWorkflowHistory(r.t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			r.t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// asks reports whether a run has asked for an activity.
func (r *recorder) asks(run execution, activity string) bool {
	r.t.Helper()
	return slices.ContainsFunc(r.history(run.Execution.WorkflowID, run.Execution.RunID).Events, func(e *history.HistoryEvent) bool {
		return e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activity
	})
}

// hasChange reports whether a run, the latest if run is empty, has taken the new branch of a change of workflow code.
func (r *recorder) hasChange(id, run, change string) bool {
	r.t.Helper()
	return slices.ContainsFunc(r.history(id, run).Events, func(e *history.HistoryEvent) bool {
		marker := e.GetMarkerRecordedEventAttributes()
		return marker.GetMarkerName() == "Version" && strings.Contains(marker.GetDetails()["change-id"].String(), change)
	})
}

// identity is the identity of a worker or client: process, host and queue.
var identity = regexp.MustCompile(`^\d+@[^@]*`)

// clean hides the machine in a decoded history.
func (r *recorder) clean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			text, isText := value.(string)
			switch {
			case key == "stackTrace" || key == "taskId":
				delete(v, key)
			case key == "data" && isText:
				if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
					v[key] = base64.StdEncoding.EncodeToString([]byte(r.hide.Replace(string(raw))))
				}
			case isText:
				v[key] = identity.ReplaceAllString(r.hide.Replace(text), "1@worker")
			default:
				v[key] = r.clean(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = r.clean(v[i])
		}
	}
	return v
}

// configured changes fields of a crawl's definition, and returns the one that is in force then.
func configured(t *testing.T, c client.Client, name, fields string) (now crawl.Definition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	update, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: names.CrawlID(name), UpdateName: names.UpdateConfig, Args: []any{json.RawMessage(fields)}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = update.Get(ctx, &now)
	}
	if err != nil {
		t.Fatalf("configure %s: %v", fields, err)
	}
	return now
}

// submit submits URLs to a crawl, which must accept all of them.
func submit(t *testing.T, c client.Client, name string, list ...frontier.Submission) {
	t.Helper()
	update, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: names.CrawlID(name), UpdateName: names.UpdateSubmit, Args: []any{list}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	var out workflows.SubmitResult
	if err == nil {
		err = update.Get(t.Context(), &out)
	}
	if err != nil || out.Answers[frontier.SubmitAccepted] != len(list) {
		t.Fatalf("%+v, %v", out, err)
	}
}

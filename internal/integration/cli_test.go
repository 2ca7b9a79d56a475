package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
)

// soon is how long a test waits for the effect of one command or one batch, which takes a second on an idle machine.
const soon = 6 * time.Minute

// write writes a file of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	return fixture.Write(t, t.TempDir(), name, text)
}

// temporal runs Temporal's CLI, which must not fail.
func (s *Server) temporal(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.Run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// execution is a row of `temporal workflow list`.
type execution struct {
	Execution struct {
		WorkflowID string `json:"workflowId"`
		RunID      string `json:"runId"`
	} `json:"execution"`
	Status string `json:"status"`
}

// list lists workflows by a query.
func (s *Server) list(t *testing.T, query string) []execution {
	t.Helper()
	var rows []execution
	s.JSON(t, &rows, "workflow", "list", "--query", query)
	return rows
}

// batches asks for the batches of a crawl in a state.
func batches(crawl, status string) string {
	return fmt.Sprintf("WorkflowType = 'Batch' AND %s = '%s' AND ExecutionStatus = '%s'", names.AttrCrawl.GetName(), crawl, status)
}

// status is the state of a workflow's latest run.
func (s *Server) status(t *testing.T, id string) string {
	t.Helper()
	var out struct {
		Info execution `json:"workflowExecutionInfo"`
	}
	s.JSON(t, &out, "workflow", "describe", "--workflow-id", id)
	return strings.TrimPrefix(out.Info.Status, "WORKFLOW_EXECUTION_STATUS_")
}

func (s *Server) awaitStatus(t *testing.T, id, want string) {
	t.Helper()
	Until(t, soon, "workflow "+id, func() string {
		if got := s.status(t, id); got != want {
			return "it is " + got + ", want " + want
		}
		return ""
	})
}

// A crawl that is started with the Temporal CLI and a definition of three keys does the same as a crawl that
// is started with muninn.
func TestStartWithTheCLI(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 2}, 2, 4))
	dir := t.TempDir()
	StartWorker(t, Config(server, world, dir))
	minimal := func(name string) string {
		raw, err := json.Marshal(map[string]any{"name": name, "seeds": world.Seeds(), "topic": map[string]any{"keywords": world.Topic()}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	server.temporal(t, "workflow", "start", "--type", "Crawl", "--task-queue", "muninn", "--workflow-id", "crawl/by-hand",
		"--input-file", write(t, "crawl.json", minimal("by-hand")))
	muninn := func(args ...string) (string, error) {
		return Run(Program(t, "muninn"), append(args, "--temporal", server.Address)...)
	}
	if _, err := muninn("start", write(t, "crawl.yaml", minimal("by-muninn"))); err != nil {
		t.Fatal(err)
	}
	hand, command := Result(t, server.Client, "by-hand", CrawlTime), Result(t, server.Client, "by-muninn", CrawlTime)
	if hand.Reason != command.Reason || hand.Totals.Pages != command.Totals.Pages || hand.Totals.Known != command.Totals.Known || hand.Totals.Relevant != command.Totals.Relevant {
		t.Errorf("by hand: %s, %+v\nby muninn: %s, %+v", hand.Reason, hand.Totals, command.Reason, command.Totals)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	for _, p := range world.Pages() {
		if n := report.Pages[p.URL]; p.Allowed && n != 2 {
			t.Errorf("%s is archived %d times, want once in each crawl", p.URL, n)
		}
	}
}

func TestBadDefinitionWithTheCLI(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 2}, 1, 1))
	StartWorker(t, Config(server, world, t.TempDir()))
	server.temporal(t, "workflow", "start", "--type", "Crawl", "--task-queue", "muninn", "--workflow-id", "crawl/bad",
		"--input", `{"name":"bad","seeds":["raven"],"budgit":1,"order":{"per_queue":9999}}`)
	server.awaitStatus(t, "crawl/bad", "FAILED")
	out, err := server.Run("workflow", "result", "--workflow-id", "crawl/bad")
	text := out + fmt.Sprint(err)
	for _, fault := range []string{"seeds[0]", "budgit", "order.per_queue"} {
		if !strings.Contains(text, fault) {
			t.Errorf("the failure does not name %q:\n%s", fault, text)
		}
	}
}

// obstructed is the latency of the web until the first batches are obstructed.
const obstructed = 5 * time.Second

// obstruct makes ARCHIVE fail in the first batches of a crawl, by a fault that counts: their working folders have a folder in
// the place of a file. Until then the web answers late, so that no batch has reached the step.
func obstruct(t *testing.T, world *webworld.World, conf worker.Config, crawl string, batches int) (repair func()) {
	t.Helper()
	var folders []string
	Until(t, soon, "the first batches are open", func() (missing string) {
		var err error
		if folders, err = filepath.Glob(filepath.Join(conf.Data, "spool", "batches", crawl, "*")); err != nil || len(folders) < batches {
			return fmt.Sprintf("%d are, %v", len(folders), err)
		}
		return ""
	})
	for i, folder := range folders {
		folders[i] = filepath.Join(folder, "commit.cbor")
		if err := os.Mkdir(folders[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	world.SetLatency(0)
	return func() {
		for _, folder := range folders {
			if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}

// Batches fail while segments cannot be written, give their URLs back, and archive their pages when they
// are reset: one by its ID, the others by a query.
func TestLongResetFailedBatches(t *testing.T) {
	t.Parallel()
	const hosts = 4
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 3, Latency: obstructed}, hosts, 12))
	dir := t.TempDir()
	conf := Config(server, world, dir)
	conf.BundlePLDs, conf.GiveBack = 1, 5*time.Minute // the queues rest so long, also of batches that are reset
	w := StartWorker(t, conf)
	d := Definition("ravens", world)

	StartCrawl(t, server.Client, d)
	repair := obstruct(t, world, conf, d.Name, hosts)
	var failed []execution
	Until(t, soon, "the batches of all hosts fail", func() string {
		failed = server.list(t, batches(d.Name, "Failed"))
		if len(failed) < hosts {
			return fmt.Sprintf("%d have failed", len(failed))
		}
		return ""
	})
	id := failed[0].Execution.WorkflowID
	out, err := server.Run("workflow", "result", "--workflow-id", id)
	if text := out + fmt.Sprint(err); !strings.Contains(text, "commit.cbor") {
		t.Errorf("the failure of %s does not have its reason:\n%s", id, text)
	}
	s, err := w.Activities().Frontier.Crawl(d.Name).Status()
	if err != nil {
		t.Fatal(err)
	}
	if s.Claimed != 0 || s.Waiting != hosts || s.Totals.Failed != hosts {
		t.Errorf("the URLs have not gone back: %+v", s)
	}
	for _, q := range s.Slow { // those that rest for more than ten seconds from now on
		if rest := time.Until(q.Next); rest > conf.GiveBack {
			t.Errorf("%s rests for %v, want %v at most", q.PLD, rest, conf.GiveBack)
		}
	}

	repair()
	server.temporal(t, "workflow", "reset", "--workflow-id", id, "--type", "FirstWorkflowTask", "--reason", "the disk is repaired")
	server.awaitStatus(t, id, "COMPLETED")
	server.temporal(t, "workflow", "reset", "--query", batches(d.Name, "Failed"), "--type", "FirstWorkflowTask", "--reason", "the disk is repaired", "--yes")
	for _, f := range failed {
		server.awaitStatus(t, f.Execution.WorkflowID, "COMPLETED")
	}
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" {
		t.Errorf("the crawl ended because of %q", result.Reason)
	}
	Once(t, Check(t, filepath.Join(dir, "archive")), world)
	polite(t, world.Stats(), 0)
}

// A batch that is terminated or cancelled while it fetches is reset, continues, and archives every page
// once. The cancelled one has given its leases back and needs them again.
func TestLongResetEndedBatch(t *testing.T) {
	t.Parallel()
	for command, status := range map[string]string{"terminate": "TERMINATED", "cancel": "CANCELED"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			resetEnded(t, command, status)
		})
	}
}

func resetEnded(t *testing.T, command, status string) {
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 4, Latency: 50 * time.Millisecond}, 2, 40))
	dir := t.TempDir()
	conf := Config(server, world, dir)
	conf.GiveBack = time.Hour // no other batch takes the URLs meanwhile
	StartWorker(t, conf)
	d := Definition("slow", world)
	d.Scope.Within = crawl.WithinHost
	StartCrawl(t, server.Client, d)
	Until(t, soon, "the crawl is in progress", func() string {
		if n := world.Stats().Requested(); n < 8 {
			return fmt.Sprintf("%d pages are fetched", n)
		}
		return ""
	})
	world.SetLatency(5 * time.Second) // so that a batch is seldom at its end when it is ended
	var reset []string
	Until(t, soon, "a batch is ended while it fetches", func() string {
		for _, b := range server.list(t, batches(d.Name, "Running")) {
			id := b.Execution.WorkflowID
			_, _ = server.Run("workflow", command, "--workflow-id", id) // an error if it has just ended
			got := ""
			Until(t, soon, "batch "+id+" ends", func() string {
				if got = server.status(t, id); got == "RUNNING" {
					return "it runs"
				}
				return ""
			})
			if got == status {
				server.temporal(t, "workflow", "reset", "--workflow-id", id, "--type", "FirstWorkflowTask", "--reason", "it was ended by mistake")
				reset = append(reset, id)
			}
		}
		if len(reset) == 0 {
			return "no batch was"
		}
		return ""
	})
	world.SetLatency(0)
	result := Result(t, server.Client, d.Name, CrawlTime)
	for _, id := range reset {
		if got := server.status(t, id); got != "COMPLETED" {
			t.Errorf("batch %s is %s", id, got)
		}
	}
	if result.Reason != "drained" {
		t.Errorf("ended: %s, %+v", result.Reason, result.Totals)
	}
	Once(t, Check(t, filepath.Join(dir, "archive")), world)
	polite(t, world.Stats(), 0)
	if again := world.Stats().Repeated(); len(again) > 2*len(reset) {
		t.Errorf("fetched again, not only what was in progress: %v", again)
	}
}

// A schedule crawls again and again: what has not changed is archived as revisits.
func TestLongSchedule(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 5}, 2, 8))
	dir := t.TempDir()
	StartWorker(t, Config(server, world, dir))
	raw, err := json.Marshal(Definition("daily", world))
	if err != nil {
		t.Fatal(err)
	}
	schedule := func(args ...string) string {
		t.Helper()
		out, err := Run(Program(t, "muninn"), append(append([]string{"schedule"}, args...), "--temporal", server.Address, "--json")...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	definition := write(t, "daily.json", string(raw))
	schedule("create", definition, "--every", "24h")
	if _, err := Run(Program(t, "muninn"), "schedule", "create", definition, "--every", "24h", "--temporal", server.Address); err == nil {
		t.Error("a second schedule of the same name was created")
	}
	type row struct {
		ID     string   `json:"id"`
		Paused bool     `json:"paused"`
		Recent []string `json:"recent"`
	}
	rows := func() (list []row) {
		if err := json.Unmarshal([]byte(schedule("list")), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	var pages [2]int
	for run := range 2 {
		schedule("trigger", "daily")
		var id string
		Until(t, soon, fmt.Sprintf("run %d is started", run+1), func() string {
			list := rows()
			if len(list) != 1 || list[0].ID != "daily" || list[0].Paused || len(list[0].Recent) != run+1 {
				return fmt.Sprintf("the list is %+v", list)
			}
			id = list[0].Recent[run]
			return ""
		})
		result := Result(t, server.Client, strings.TrimPrefix(id, "crawl/"), CrawlTime)
		if result.Run != uint32(run+1) {
			t.Errorf("run %d counts as run %d", run+1, result.Run)
		}
		pages[run] = int(result.Totals.Pages)
		if run == 0 && result.Totals.Revisits > 0 || run == 1 && result.Totals.Revisits != result.Totals.Pages {
			t.Errorf("run %d: %d of %d pages are revisits", run+1, result.Totals.Revisits, result.Totals.Pages)
		}
	}
	if pages[0] != pages[1] || pages[0] == 0 {
		t.Errorf("the runs have %v pages", pages)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	if report.Revisits != pages[1] {
		t.Errorf("the archive has %d revisits, want %d", report.Revisits, pages[1])
	}
	schedule("delete", "daily")
	Until(t, soon, "the schedule is deleted", func() string {
		if list := rows(); slices.ContainsFunc(list, func(r row) bool { return r.ID == "daily" }) {
			return fmt.Sprintf("the list is %+v", list)
		}
		return ""
	})
}

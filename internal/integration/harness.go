package integration

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// CrawlTime is how long a test waits for a small crawl's end, which takes seconds on an idle machine.
const CrawlTime = 20 * time.Minute

// Serve serves a synthetic web until the test's end.
func Serve(t testing.TB, world *webworld.World) *webworld.World {
	t.Helper()
	if err := world.Start(context.Background()); err != nil {
		t.Fatalf("serve the web: %v", err)
	}
	t.Cleanup(func() { _ = world.Close() })
	return world
}

// Server is a Temporal dev server with a connection to it.
type Server struct {
	*localstack.Server
	Client client.Client
	Binary string // of the CLI
}

// StartServer starts a dev server on free ports, until the test's end.
func StartServer(t testing.TB) *Server {
	t.Helper()
	binary := Temporal(t)
	server, err := localstack.Start(t.Context(), localstack.Options{Binary: binary, Data: t.TempDir(), Attrs: names.SearchAttributes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return &Server{server, Dial(t, server.Address), binary}
}

// dialTime is how long a server that has answered may take to answer once more, on a machine that is busy with other tests.
const dialTime = 2 * time.Minute

// Dial connects to a server until the test's end.
func Dial(t testing.TB, address string) (c client.Client) {
	t.Helper()
	Until(t, dialTime, "connect to Temporal", func() string {
		var err error
		if c, err = worker.Dial(t.Context(), worker.Temporal{Address: address, Namespace: "default"}, slog.New(slog.DiscardHandler)); err != nil {
			return err.Error()
		}
		return ""
	})
	t.Cleanup(c.Close)
	return c
}

// Config is the configuration of a worker for a synthetic web: loopback is allowed, no DNS request leaves
// the machine, and pauses are short. Frontier, spool and archive are below dir; the archive is dir/archive.
func Config(server *Server, world *webworld.World, dir string) worker.Config {
	conf := worker.DefaultConfig()
	conf.Name, conf.Temporal.Address, conf.Listen = "w1", server.Address, ""
	conf.Data, conf.Archive = filepath.Join(dir, "data"), filepath.Join(dir, "archive")
	conf.Networks, conf.DNS, conf.Resolve = []string{"127.0.0.0/8"}, "127.0.0.1:9", map[string]string{}
	for host, addr := range world.Resolve() {
		conf.Resolve[host] = addr.String()
	}
	conf.Seeds = []string{os.TempDir()}
	short := crawl.Duration(200 * time.Millisecond)
	conf.Fetch.RetryBase, conf.Fetch.RobotsRetry = short, short
	conf.Fetch.HostFailures, conf.Fetch.MaxAttempts = 2, 2
	conf.Attempts = 2
	conf.Linger, conf.BatchTime, conf.GiveBack, conf.Drain = 50*time.Millisecond, 10*time.Second, time.Second, 5*time.Second
	return conf
}

// Worker is a worker in the test's process.
type Worker struct {
	*worker.Worker
	stop func()
}

// Stop drains the worker; a second time does nothing.
func (w *Worker) Stop() { w.stop() }

// StopWhile drains the worker, and calls resume meanwhile, which ends what the worker waits for.
func (w *Worker) StopWhile(resume func()) {
	stopped := make(chan struct{})
	go func() {
		w.Stop()
		close(stopped)
	}()
	resume()
	<-stopped
}

// StartWorker runs a worker until the test's end, or until it is stopped. If the test fails, the end of
// the worker's log is shown.
func StartWorker(t testing.TB, conf worker.Config) *Worker {
	t.Helper()
	log := &tail{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of worker %s:\n%s", conf.Name, log)
		}
	})
	w, err := worker.Start(t.Context(), conf, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatalf("start worker %s: %v", conf.Name, err)
	}
	out := &Worker{w, sync.OnceFunc(w.Stop)}
	t.Cleanup(out.Stop)
	return out
}

// Definition is a crawl of a whole world for its topic, without a pause between requests and without a
// reference crawl.
func Definition(name string, world *webworld.World) crawl.Definition {
	d := crawl.DefaultDefinition()
	d.Name = name
	for _, seed := range world.Seeds() {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: seed})
	}
	d.Topic.Keywords = world.Topic()
	none := int64(0)
	d.Reference.Pages = &none
	d.Scope.Within = crawl.WithinPLD
	d.Politeness.MinDelay, d.Politeness.MaxDelay, d.Politeness.Factor = 0, 0, 0
	d.Budget.Time = crawl.Duration(time.Hour)
	return d
}

// StartCrawl starts a crawl.
func StartCrawl(t testing.TB, c client.Client, d crawl.Definition) {
	t.Helper()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.CrawlID(d.Name), TaskQueue: names.TaskQueue}, names.Crawl, d)
	if err != nil {
		t.Fatalf("start crawl %s: %v", d.Name, err)
	}
}

// Result waits for the end of a crawl, within a limit.
func Result(t testing.TB, c client.Client, name string, limit time.Duration) workflows.CrawlResult {
	t.Helper()
	out, err := Ending(t, c, name, limit)
	if err != nil {
		t.Fatalf("crawl %s did not end well: %v", name, err)
	}
	return out
}

// Ending waits for the end of a crawl, within a limit, and returns the error that it ended with.
func Ending(t testing.TB, c client.Client, name string, limit time.Duration) (workflows.CrawlResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out workflows.CrawlResult
	err := c.GetWorkflow(ctx, names.CrawlID(name), "").Get(ctx, &out)
	if ctx.Err() != nil {
		state := "and gives no status"
		if value, err := c.QueryWorkflow(t.Context(), names.CrawlID(name), "", names.QueryStatus); err == nil {
			var s json.RawMessage
			_ = value.Get(&s)
			state = string(s)
		}
		t.Fatalf("crawl %s has not ended within %v: %s", name, limit, state)
	}
	return out, err
}

// Until waits until done, which is asked often; done reports what is still missing.
func Until(t testing.TB, limit time.Duration, what string, done func() (missing string)) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := done()
		if missing == "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %v: %s", what, limit, missing)
		}
	}
}

// Check checks an archive directory: no fault, no orphan. Its report has each page's captures.
func Check(t testing.TB, dir string) archivecheck.Report {
	t.Helper()
	report := Faultless(t, dir)
	if len(report.Orphans) > 0 {
		t.Errorf("archive: objects that no manifest names: %v", report.Orphans)
	}
	return report
}

// Faultless checks an archive directory: no fault. What no manifest names may be there, as after kills.
func Faultless(t testing.TB, dir string) archivecheck.Report {
	t.Helper()
	report, err := archivecheck.CheckDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range report.Faults[:min(len(report.Faults), 20)] {
		t.Errorf("archive: %s", fault)
	}
	return report
}

// Once checks that the archive has every allowed page of the world exactly once, and no other page of it
// more than once.
func Once(t testing.TB, report archivecheck.Report, world *webworld.World) {
	t.Helper()
	for _, p := range world.Pages() {
		if n := report.Pages[p.URL]; p.Allowed && p.Status != 0 && n != 1 {
			t.Errorf("archive: %s is there %d times, want once", p.URL, n)
		}
	}
	for url, n := range report.Pages {
		if n > 1 {
			t.Errorf("archive: %s is there %d times", url, n)
		}
	}
}

// Run runs the temporal CLI with the server and returns its standard output. The error has its standard
// error.
func (s *Server) Run(args ...string) (string, error) {
	return Run(s.Binary, append(args, "--address", s.Address)...)
}

// JSON runs the temporal CLI and decodes its JSON output.
func (s *Server) JSON(t testing.TB, out any, args ...string) {
	t.Helper()
	text, err := s.Run(append(args, "--output", "json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("temporal %v: %v: %s", args, err, text)
	}
}

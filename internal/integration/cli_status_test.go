package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// shown is what `muninn status` prints of a crawl: for people, and what the tests read of its JSON.
func (s *Server) shown(t *testing.T, name string) (text string, status crawlStatus, reason string) {
	t.Helper()
	text, err := Run(Program(t, "muninn"), "status", name, "--wait", "30s", "--temporal", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Run(Program(t, "muninn"), "status", name, "--wait", "30s", "--temporal", s.Address, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var why struct{ Reason string }
	if err := json.Unmarshal([]byte(raw), &status); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if err := json.Unmarshal([]byte(raw), &why); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return text, status, why.Reason
}

// The status of a crawl that could not start has the reason, with each way of starting it.
func TestStatusOfAFaultyCrawl(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 12}, 1, 1))
	StartWorker(t, Config(server, world, t.TempDir()))
	server.temporal(t, "workflow", "start", "--type", "Crawl", "--task-queue", "muninn", "--workflow-id", "crawl/by-cli",
		"--input", `{"name":"by-cli","seeds":["https://example.org/"],"budget":{"pages":0}}`)
	d := Definition("by-client", world)
	d.Budget.Pages = 0
	StartCrawl(t, server.Client, d)
	for _, name := range []string{"by-cli", "by-client"} {
		server.awaitStatus(t, names.CrawlID(name), "FAILED")
		text, status, reason := server.shown(t, name)
		if status.State != "Failed" || status.Result != nil {
			t.Errorf("the status of %s is %+v", name, status)
		}
		for where, said := range map[string]string{"people": text, "machines": reason} {
			if !strings.Contains(said, "budget.pages") || !strings.Contains(said, "must be at least 1") {
				t.Errorf("the status of %s for %s does not have the reason:\n%s", name, where, lines(said))
			}
		}
	}
}

// The status of a crawl that has ended has its totals, also without a running worker.
func TestStatusWithoutAWorker(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 13}, 2, 24))
	dir := t.TempDir()
	worker := StartWorker(t, Config(server, world, dir))
	d := Definition("done", world)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Totals.Pages == 0 || result.Totals.Robots == 0 {
		t.Fatalf("the crawl has the totals %+v", result.Totals)
	}
	worker.Stop()
	text, status, reason := server.shown(t, d.Name)
	if status.State != "Completed" || reason != "" || status.Result == nil || status.Result.Reason != "drained" {
		t.Fatalf("the status is %+v, %q", status, reason)
	}
	pages := int(result.Totals.Pages)
	if status.Result.Totals.Pages != pages || status.Crawl.Progress.Totals.Pages != pages || status.Crawl.Phase != "ended" {
		t.Errorf("the status is %+v, the crawl had %d pages", status, pages)
	}
	for _, words := range []string{
		fmt.Sprintf("pages     %d,", pages), fmt.Sprintf("refused   %d by robots.txt", result.Totals.Robots),
		"run 1", "ended     nothing is left to crawl", filepath.Join(dir, "archive"),
	} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in the status:\n%s", words, lines(text))
		}
	}
}

// The status of a crawl that runs while no worker does is what Temporal knows of it.
func TestStatusWhileNoWorkerRuns(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	d := Definition("alone", Serve(t, bench.New(webworld.Options{Seed: 13}, 1, 1)))
	_, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: names.CrawlID(d.Name), TaskQueue: names.TaskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(names.AttrState.ValueSet("broad, paused"), names.AttrPages.ValueSet(12)),
	}, names.Crawl, d)
	if err != nil {
		t.Fatal(err)
	}
	text, status, _ := server.shown(t, d.Name)
	if status.State != "Running" || status.Silent.Queue != names.TaskQueue || status.Crawl.Progress.Totals.Pages != 12 {
		t.Errorf("the status is %+v", status)
	}
	for _, words := range []string{"alone: Running, broad, paused, 12 pages", "every worker of the task queue muninn is away: Temporal knows no sign of life"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in the status:\n%s", words, lines(text))
		}
	}
}

// A paused crawl gives its leases back when its running batches have ended: its addresses are free for others.
func TestPauseReleasesLeases(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 14, Latency: 500 * time.Millisecond}, 2, 80))
	dir := t.TempDir()
	d := server.inFlight(t, world, dir, "paused", 20)
	signal := func(name string) {
		t.Helper()
		if err := server.Client.SignalWorkflow(t.Context(), names.CrawlID(d.Name), "", name, nil); err != nil {
			t.Fatal(err)
		}
	}
	world.SetLatency(500 * time.Millisecond)
	signal(names.SignalPause)
	before := 0
	Until(t, soon, "the running batches end, and their leases with them", func() string {
		n, running, leases := world.Stats().Requests, len(server.list(t, batches(d.Name, "Running"))), held(server.shard(t))
		if running > 0 || leases != "" || n != before {
			before = n
			return fmt.Sprintf("%d requests, %d batches;%s", n, running, leases)
		}
		return ""
	})
	if _, status, _ := server.shown(t, d.Name); status.State != "Running" || !status.Crawl.Paused {
		t.Errorf("the crawl is %+v", status)
	}
	if before >= 140 {
		t.Fatalf("%d requests before the pause: let the web be slower", before)
	}
	world.SetLatency(0)

	// Another crawl has the addresses meanwhile.
	other := Definition("other", world)
	other.Scope.Within = crawl.WithinHost
	other.Budget.Pages = 10
	StartCrawl(t, server.Client, other)
	if result := Result(t, server.Client, other.Name, soon); result.Reason != "pages" {
		t.Errorf("the other crawl ended with %q", result.Reason)
	}

	signal(names.SignalResume)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Totals.Failed > 0 {
		t.Errorf("the crawl ended with %q and %d failed batches", result.Reason, result.Totals.Failed)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	for _, p := range world.Pages() {
		if n := report.Pages[p.URL]; p.Allowed && n < 1 || n > 2 {
			t.Errorf("archive: %s is there %d times in two crawls", p.URL, n)
		}
		robots := p.URL[:strings.Index(p.URL[len("http://"):], "/")+len("http://")] + "/robots.txt"
		if pages := report.Pages[p.URL]; pages > report.Robots[robots] {
			t.Errorf("archive: %s is there in %d crawls, but %s %d times", p.URL, pages, robots, report.Robots[robots])
		}
	}
	polite(t, world.Stats(), 0)
	Until(t, soon, "all leases are given back", func() string { return held(server.shard(t)) })
}

package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/workflows"
)

// A crawl that is cancelled ends once its batches have ended and all leases are released; started again, it continues its
// run, and archives every page once.
func TestLongCancelledCrawl(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7, Latency: 50 * time.Millisecond}, 2, 40))
	dir := t.TempDir()
	d := server.inFlight(t, world, dir, "cancelled", 20)
	if err := server.Client.CancelWorkflow(t.Context(), names.CrawlID(d.Name), ""); err != nil {
		t.Fatal(err)
	}
	var cancelled *temporal.CanceledError
	if _, err := Ending(t, server.Client, d.Name, soon); !errors.As(err, &cancelled) {
		t.Fatalf("it ended with %v", err)
	}
	if leases := held(server.shard(t)); leases != "" {
		t.Errorf("the crawl has ended, and %s", leases)
	}
	if n := world.Stats().Requested(); n >= 80 {
		t.Fatalf("%d pages are fetched: let the web be slower", n)
	}
	if _, status, _ := server.shown(t, d.Name); status.State != "Canceled" || status.Crawl.Progress.Totals.Pages == 0 {
		t.Errorf("%+v", status)
	}
	server.batchesEnd(t, d.Name)
	world.SetLatency(0)
	server.runOneContinues(t, world, dir, d)
}

// The status of a crawl that was terminated in its first rounds shows what is known. The crawl can be forgotten when its batches have
// finished: its leases are released. Started again, it begins from its archive.
func TestLongForgetTerminatedCrawl(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 8, Latency: 100 * time.Millisecond}, 2, 150))
	dir := t.TempDir()
	Program(t, "muninn") // which takes long to build, before the crawl
	d := server.inFlight(t, world, dir, "cutoff", 4)
	forget := func() (string, error) {
		return Run(Program(t, "muninn"), "forget", d.Name, "--yes", "--temporal", server.Address)
	}
	if _, err := forget(); err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("while it runs: %v", err)
	}
	if err := server.Client.TerminateWorkflow(t.Context(), names.CrawlID(d.Name), "", "a test"); err != nil {
		t.Fatal(err)
	}
	if text, status, _ := server.shown(t, d.Name); status.State != "Terminated" || !strings.Contains(text, "muninn forget "+d.Name) || strings.Contains(text, "0001-01-01") {
		t.Errorf("its status is %s", text)
	}
	Until(t, soon, "the crawl is forgotten", func() string {
		_, err := forget()
		switch {
		case err == nil:
			return ""
		case strings.Contains(err.Error(), "batches of it are still running"), strings.Contains(err.Error(), "running already"): // the list of workflows is late
			return err.Error()
		}
		t.Fatal(err)
		return ""
	})
	Until(t, soon, "its leases are released", func() string { return held(server.shard(t)) })
	world.SetLatency(0)
	StartCrawl(t, server.Client, d)
	if result := Result(t, server.Client, d.Name, CrawlTime); result.Reason != "drained" || result.Run != 2 || result.Totals.Failed > 0 {
		t.Errorf("%s, run %d, %+v", result.Reason, result.Run, result.Totals)
	}
	Check(t, filepath.Join(dir, "archive"))
	polite(t, world.Stats(), 0)
}

// A crawl whose worker is away says so, is cancelled without it, and leaves what one leaves that is terminated: its batches end when
// the worker is back, and started again it continues its run.
func TestCancelledWithoutItsWorker(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9, Latency: 100 * time.Millisecond, Trace: true}, 2, 80))
	dir := t.TempDir()
	conf, other := Config(server, world, dir), Config(server, world, t.TempDir())
	other.Name = "w2"
	away := StartWorker(t, conf)
	d := wholeHosts("away", world)
	id := names.CrawlID(d.Name)
	_, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: names.TaskQueue}, names.Crawl, d,
		&workflows.CrawlState{Name: d.Name, CancelWait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	server.awaitLeases(t, world, 10)
	world.SetLatency(10 * time.Second) // nothing that is in progress ends before the worker is away
	slow := time.Now()
	Until(t, soon, "a request is in progress that lasts so long", func() string { // between two batches there is none, and no lease
		if trace := world.Trace(); !slices.ContainsFunc(trace, func(a webworld.Asked) bool { return a.Live && a.Began.After(slow) }) {
			return fmt.Sprintf("%d requests", len(trace))
		}
		return ""
	})
	left := StartWorker(t, other) // for the tasks of the crawl itself
	away.Stop()
	status := func(want ...string) {
		t.Helper()
		text, err := Run(Program(t, "muninn"), "status", d.Name, "--temporal", server.Address)
		if err != nil {
			t.Error(err)
		}
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("%q is not in the status\n%s", words, lines(text))
			}
		}
	}
	status("its worker w1 ", "its last sign of life was at 20", "temporal workflow cancel --workflow-id 'crawl/away'")
	if err := server.Client.CancelWorkflow(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	var cancelled *temporal.CanceledError
	if _, err := Ending(t, server.Client, d.Name, soon); !errors.As(err, &cancelled) {
		t.Fatalf("it ended with %v", err)
	}
	server.awaitStatus(t, names.ControllerID(d.Name, "w1"), "TERMINATED")
	if held(server.shard(t)) == "" || len(server.list(t, batches(d.Name, "Running"))) == 0 {
		t.Fatal("nothing was in progress as the worker went away: the test tests nothing")
	}
	status("away: Canceled", "batches still running: ", "`muninn start` with the definition continues run 1")

	world.SetLatency(0)
	left.Stop() // the crawl is the other one's
	StartWorker(t, conf)
	server.batchesEnd(t, d.Name)
	server.runOneContinues(t, world, dir, d)
}

// batchesEnd waits until no batch of a crawl runs.
func (s *Server) batchesEnd(t *testing.T, name string) {
	t.Helper()
	Until(t, soon, "no batch is running", func() string {
		if running := s.list(t, batches(name, "Running")); len(running) > 0 {
			return fmt.Sprintf("%d batches run", len(running))
		}
		return ""
	})
}

// runOneContinues starts a crawl of all of a world's pages again, which was cut off: its run 1 continues to its end, and the archive has
// every page once.
func (s *Server) runOneContinues(t *testing.T, world *webworld.World, dir string, d crawl.Definition) {
	t.Helper()
	StartCrawl(t, s.Client, d)
	result := Result(t, s.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Run != 1 || result.Totals.Failed > 0 {
		t.Errorf("%s, run %d, %+v", result.Reason, result.Run, result.Totals)
	}
	Once(t, Check(t, filepath.Join(dir, "archive")), world)
	polite(t, world.Stats(), 0)
}

// inFlight starts a worker, and a crawl of all of a world's hosts, and returns when leases are held and some pages have been fetched.
func (s *Server) inFlight(t *testing.T, world *webworld.World, dir, name string, pages int) crawl.Definition {
	t.Helper()
	StartWorker(t, Config(s, world, dir))
	d := wholeHosts(name, world)
	StartCrawl(t, s.Client, d)
	s.awaitLeases(t, world, pages)
	return d
}

// wholeHosts is a crawl of all of a world's hosts.
func wholeHosts(name string, world *webworld.World) crawl.Definition {
	d := Definition(name, world)
	d.Order.PerQueue = 10
	d.Scope.Within = crawl.WithinHost
	return d
}

// awaitLeases waits until leases are held and some pages have been fetched. The web has a latency of a second then: a busy shard answers late, and the crawl must not end meanwhile.
func (s *Server) awaitLeases(t *testing.T, world *webworld.World, pages int) {
	t.Helper()
	Until(t, soon, "leases are held in mid-crawl", func() string {
		n := world.Stats().Requested()
		if n < pages {
			return fmt.Sprintf("%d pages are fetched", n)
		}
		if world.SetLatency(time.Second); held(s.shard(t)) == "" {
			return fmt.Sprintf("%d pages are fetched, and no lease is held", n)
		}
		return ""
	})
}

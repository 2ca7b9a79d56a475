package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// A crawl that is cancelled ends once its batches have ended and all leases are released; started again, it continues its
// run, and archives every page once.
func TestLongCancelledCrawl(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7, Latency: 50 * time.Millisecond}, 2, 40))
	dir := t.TempDir()
	d := server.inFlight(t, world, dir, "cancelled", 20)
	world.SetLatency(300 * time.Millisecond)
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
	if _, status, _ := server.told(t, d.Name); status.State != "Canceled" || status.Crawl.Progress.Totals.Pages == 0 {
		t.Errorf("%+v", status)
	}
	Until(t, soon, "no batch is running", func() string {
		if running := server.list(t, batches(d.Name, "Running")); len(running) > 0 {
			return fmt.Sprintf("%d batches run", len(running))
		}
		return ""
	})
	world.SetLatency(0)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Run != 1 || result.Totals.Failed > 0 {
		t.Errorf("%s, run %d, %+v", result.Reason, result.Run, result.Totals)
	}
	Once(t, Check(t, filepath.Join(dir, "archive")), world)
	polite(t, world.Stats(), 0)
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
	if text, status, _ := server.told(t, d.Name); status.State != "Terminated" || !strings.Contains(text, "muninn forget "+d.Name) || strings.Contains(text, "0001-01-01") {
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

// inFlight starts a worker, and a crawl of all of a world's hosts, and returns when leases are out and some pages have been fetched.
func (s *Server) inFlight(t *testing.T, world *webworld.World, dir, name string, pages int) crawl.Definition {
	t.Helper()
	StartWorker(t, Config(s, world, dir))
	d := Definition(name, world)
	d.Order.PerQueue = 10
	d.Scope.Within = crawl.WithinHost
	StartCrawl(t, s.Client, d)
	Until(t, soon, "leases are out in mid-crawl", func() string {
		if n := world.Stats().Requested(); n < pages || held(s.shard(t)) == "" {
			return fmt.Sprintf("%d pages are fetched", n)
		}
		return ""
	})
	return d
}

package integration

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// These name the muninn-workers of earlier versions, of which the second one knows spread crawls; tools/upgrade/with-former.sh builds them.
const (
	formerEnv       = "MUNINN_TEST_FORMER"
	formerSpreadEnv = "MUNINN_TEST_FORMER_SPREAD"
)

// formerWorker is the program that a variable of the environment names.
func formerWorker(t *testing.T, env string) string {
	t.Helper()
	program := os.Getenv(env)
	if program == "" {
		t.Skip(env + " is not set: `make test-upgrade` sets it")
	}
	return program
}

// TestUpgrade starts a crawl with the worker of an earlier version, ends that in the middle, and continues with the present one on the same
// data folder, Temporal and archive. The crawl ends, every allowed page is archived once, and no address ever sees two connections or
// a request before its time. `make test-upgrade` runs it.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	former := formerWorker(t, formerEnv)
	for n, c := range []struct {
		name string
		// after is the part of the pages, in percent, after which the former worker ends.
		after int
		end   func(t *testing.T, w *killedProcess)
	}{
		{"stopped in the reference crawl", 10, terminate},
		{"stopped in the broad crawl", 50, terminate},
		{"killed in the broad crawl", 50, func(t *testing.T, w *killedProcess) { w.kill(t) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			upgrade(t, former, netip.AddrFrom4([4]byte{127, 97, byte(n), 1}), c.after, c.end)
		})
	}
}

func upgrade(t *testing.T, former string, first netip.Addr, after int, end func(*testing.T, *killedProcess)) {
	world := Serve(t, manners.New(webworld.Options{Seed: uint64(after), Scale: 1, Trace: true, FirstIP: first}))
	rig := newKillRig(t, world, former)
	const name, perQueue = "killed", 2
	// Fields that the former worker knows, by hand: it refuses those that were added since.
	definition := map[string]any{
		"name": name, "seeds": world.Seeds(), "topic": map[string]any{"keywords": world.Topic()}, "scope": map[string]any{"within": crawl.WithinHost},
		"order": map[string]any{"per_queue": perQueue}, "reference": map[string]any{"pages": 20},
		"politeness": map[string]any{"min_delay": killDelay.String(), "max_delay": "5s", "factor": 0},
	}
	if _, err := rig.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.CrawlID(name), TaskQueue: names.TaskQueue}, names.Crawl, definition); err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, p := range world.Pages() {
		if p.Allowed {
			pages++
		}
	}
	if !rig.await(t, "the end of the former worker", pages*after/100) {
		t.Fatal("the crawl has ended before its worker is upgraded")
	}
	end(t, rig.worker)
	asked := world.Stats().Requests
	rig.worker.program = Program(t, "muninn-worker")
	rig.worker.start(t)

	// The execution that the former worker started is changed by the present one.
	if changed := configured(t, rig.client, name, `{"description": "upgraded"}`); changed.Description != "upgraded" || changed.Order.PerQueue != perQueue {
		t.Errorf("configured after the upgrade: %+v", changed)
	}
	result := Result(t, rig.client, name, CrawlTime)
	stats := world.Stats()
	t.Logf("%d pages, %d requests of the former worker, %d of the present one, %d cut, %d repeated; %+v", pages, asked, stats.Requests-asked, stats.Cut, repeats(stats), result.Totals)
	servedPolitely(t, world, killDelay)
	rig.once(t)
	if most := len(stats.PerIP); repeats(stats) > most {
		t.Errorf("%d requests were repeated, at most %d may be", repeats(stats), most)
	}
}

// upgradeHandOver is how long a worker hands over before it is upgraded, half of it while batches end.
const upgradeHandOver = 8 * time.Second

// TestUpgradeSpread upgrades two workers that crawl a web together, one after the other. In between, a worker of each version crawls, and both take a
// change of the definition. The crawl ends, each page was asked for once, by the servers' count, is archived once, and no address saw a request before its time.
func TestUpgradeSpread(t *testing.T) {
	t.Parallel()
	former := formerWorker(t, formerSpreadEnv)
	server := StartServer(t)
	process, s3 := newS3(t)
	process.start(t)
	t.Cleanup(func() { process.kill(t) })
	world := Serve(t, bench.New(webworld.Options{Seed: 51, Trace: true, FirstIP: netip.AddrFrom4([4]byte{127, 97, 9, 1})}, 24, 20))
	w1, w2 := newMoveWorker(t, "w1", server.Address, s3, world, upgradeHandOver), newMoveWorker(t, "w2", server.Address, s3, world, upgradeHandOver)
	present := w1.program
	w1.program, w2.program = former, former
	w1.start(t)
	server.awaitRing(t, "w1: up, 1024 owned")
	w2.start(t)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	d := movingDefinition("upgraded", world)
	startAtFormer(t, server, d)
	awaitPages(t, world, 24*20/8)
	for i, w := range []*killedProcess{w1, w2} {
		w.stop(t, upgradeHandOver+moveDrain+moveSlack)
		w.program = present
		w.start(t)
		server.awaitQuietRing(t, fmt.Sprintf("w%d", i+1))
		// The execution of the former version has both workers take the change, also while one of them is of that version.
		description := fmt.Sprintf("%d of 2 are upgraded", i+1)
		if changed := configured(t, server.Client, d.Name, `{"description": "`+description+`"}`); changed.Description != description {
			t.Errorf("configured: %+v", changed)
		}
		s := world.Stats()
		t.Logf("%s, at %d requests for pages", description, s.Requests-s.Robots)
		awaitPages(t, world, s.Requests-s.Robots+1) // the crawl has not ended
	}
	out := Result(t, server.Client, d.Name, CrawlTime)
	if out.Reason != crawl.ReasonDrained {
		t.Errorf("it ends: %s", out.Reason)
	}
	if n := repeats(world.Stats()); n > 0 {
		t.Errorf("%d requests were repeated", n)
	}
	servedPolitely(t, world, d.Politeness.MinDelay.D())
	store, err := archive.Open(t.Context(), moveStore, s3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s3Download(t, store, dir)
	Once(t, Check(t, dir), world)
	if sum, by := archivedTotals(t, store, d); out.Totals.Pages != sum.Pages {
		t.Errorf("the crawl counts %+v; the logs of its segments have %+v", out.Totals, by)
	}
	for _, name := range []string{"w1", "w2"} {
		if segmentsBy(t, dir, d.Name, name) == 0 {
			t.Errorf("%s has written no segment", name)
		}
	}
}

// startAtFormer starts a crawl by fields of its definition that former workers know: they refuse those that were added since.
func startAtFormer(t *testing.T, server *Server, d crawl.Definition) {
	t.Helper()
	definition := map[string]any{
		"name": d.Name, "seeds": d.Seeds, "spread": d.Spread, "topic": d.Topic, "scope": map[string]any{"within": d.Scope.Within},
		"reference": d.Reference, "politeness": map[string]any{
			"min_delay": d.Politeness.MinDelay, "max_delay": d.Politeness.MaxDelay, "factor": d.Politeness.Factor,
		},
	}
	if _, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.CrawlID(d.Name), TaskQueue: names.TaskQueue}, names.Crawl, definition); err != nil {
		t.Fatal(err)
	}
}

// terminate stops a worker as an operator does.
func terminate(t *testing.T, w *killedProcess) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.done:
	case <-time.After(soon):
		t.Fatalf("the worker has not ended within %v after SIGTERM:\n%s", soon, w.lastWords())
	}
}

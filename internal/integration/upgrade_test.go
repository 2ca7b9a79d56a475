package integration

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// formerEnv names the muninn-worker of an earlier version; tools/upgrade/with-former.sh builds it.
const formerEnv = "MUNINN_TEST_FORMER"

// TestUpgrade starts a crawl with the worker of an earlier version, ends that in the middle, and continues with the present one on the same
// data folder, Temporal and archive. The crawl ends, every allowed page is archived once, and no address ever sees two connections or
// a request before its time. `make test-upgrade` runs it.
func TestUpgrade(t *testing.T) {
	former := os.Getenv(formerEnv)
	if former == "" {
		t.Skip(formerEnv + " is not set: `make test-upgrade` sets it")
	}
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
	var changed crawl.Definition
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	update, err := rig.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: names.CrawlID(name), UpdateName: names.UpdateConfig, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{json.RawMessage(`{"description": "upgraded"}`)},
	})
	if err == nil {
		err = update.Get(ctx, &changed)
	}
	if err != nil || changed.Description != "upgraded" || changed.Order.PerQueue != perQueue {
		t.Errorf("configured after the upgrade: %v, %+v", err, changed)
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

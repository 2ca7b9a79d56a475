package integration

import (
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// politenessQueue is the task queue of the first politeness shard.
func (s *Server) politenessQueue(t *testing.T) string {
	t.Helper()
	d, err := s.Client.DescribeWorkflowExecution(t.Context(), names.PolitenessID(0), "")
	if err != nil {
		t.Fatal(err)
	}
	return d.GetExecutionConfig().GetTaskQueue().GetName()
}

// TestRetiredWorker: a worker that started politeness is retired. A crawl of another worker, on another shared queue, continues.
func TestRetiredWorker(t *testing.T) {
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9, Latency: 50 * time.Millisecond}, 2, 60))
	first, second := Config(server, world, t.TempDir()), Config(server, world, t.TempDir())
	second.Name, second.Temporal.Queue = "w2", "others"
	retired := StartWorker(t, first)
	StartWorker(t, second)
	d := Definition("stays", world)
	d.Order.PerQueue = 6
	if _, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.CrawlID(d.Name), TaskQueue: second.Temporal.Queue}, names.Crawl, d); err != nil {
		t.Fatal(err)
	}
	requested := func(n int) {
		t.Helper()
		Until(t, soon, fmt.Sprint(n, " pages are requested"), func() string {
			if got := world.Stats().Requested(); got < n {
				return fmt.Sprint(got, " are")
			}
			return ""
		})
	}
	requested(20)
	world.SetLatency(2 * time.Second) // the crawl has most of its pages left, however long the worker takes to stop
	retired.Stop()
	world.SetLatency(0)
	requested(world.Stats().Requested() + 20) // more than one batch: leases are asked for and granted
	if result := Result(t, server.Client, d.Name, CrawlTime); result.Reason != "drained" {
		t.Errorf("it ends: %s", result.Reason)
	}
	Once(t, Check(t, second.Archive), world)
}

// TestPolitenessMoves: a shard that an earlier version has started on the queue of a worker moves to the queue of the cluster when a worker
// starts, with the leases that are held.
func TestPolitenessMoves(t *testing.T) {
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9}, 1, 5))
	state := politeness.New(0, 1)
	state.Serve(time.Now(), []politeness.Round{{From: "holder", Round: 1, Asks: []politeness.Ask{{Lease: "held-1", IP: "192.0.2.1", PerIP: 1, Crawl: "c", Worker: "w"}}}})
	_, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: names.PolitenessID(0), TaskQueue: names.TaskQueue, Memo: map[string]any{"shards": 1},
	}, names.Politeness, activities.PolitenessInput{Shard: 0, Shards: 1, State: state})
	if err != nil {
		t.Fatal(err)
	}
	StartWorker(t, Config(server, world, t.TempDir()))
	Until(t, soon, "the shard moves", func() string {
		if queue := server.politenessQueue(t); queue != names.ClusterQueue {
			return "it is on " + queue
		}
		return ""
	})
	shard := server.shard(t)
	if held, _, _ := shard.Counts(); held != 1 {
		t.Errorf("%d leases are held after the move, want 1", held)
	}
}

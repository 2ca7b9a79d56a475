package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
)

// spreadWorkers starts two workers that share an archive, and waits until each owns half of the ring.
func spreadWorkers(t *testing.T, server *Server, world *webworld.World) (archive string) {
	t.Helper()
	archive, _ = startSpread(t, server, world, nil)
	return archive
}

// startSpread does so, and returns the workers.
func startSpread(t *testing.T, server *Server, world *webworld.World, edit func(*worker.Config)) (archive string, workers []*Worker) {
	t.Helper()
	first := Config(server, world, t.TempDir())
	second := Config(server, world, t.TempDir())
	second.Name, second.Archive = "w2", first.Archive
	for _, conf := range []worker.Config{first, second} {
		if edit != nil {
			edit(&conf)
		}
		workers = append(workers, StartWorker(t, conf))
	}
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	return first.Archive, workers
}

// segmentsBy counts the segments of an archive that a worker has written.
func segmentsBy(t *testing.T, archive, crawl, worker string) (n int) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(archive, crawl, "segments"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(f.Name(), "@"+worker+".") {
			n++
		}
	}
	return n
}

// TestSpreadCrawl: two workers crawl a web together from one seed: each page is archived once, both have fetched and have
// learned from pages of the other, and the crawl ends by itself.
func TestSpreadCrawl(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 11}, 12, 15))
	archive, workers := startSpread(t, server, world, nil)
	d := Definition("spread", world)
	d.Spread, d.Scope.Within, d.Seeds = true, crawl.WithinWeb, d.Seeds[:1]
	world.SetLatency(300 * time.Millisecond) // workers exchange what they learn every second or two: a crawl that ends sooner may end without
	StartCrawl(t, server.Client, d)
	Until(t, CrawlTime, "both workers learn from pages of the other", func() string {
		for _, w := range workers {
			if learned, fetched := learnedFrom(t, w, d.Name); learned <= fetched {
				return fmt.Sprintf("%s has fetched %d pages, and its order has learned from %d", w.Activities().Settings.Worker, fetched, learned)
			}
		}
		return ""
	})
	world.SetLatency(0)
	out := Result(t, server.Client, d.Name, CrawlTime)
	if out.Reason != crawl.ReasonDrained {
		t.Errorf("it ends: %s", out.Reason)
	}
	report := Check(t, archive)
	Once(t, report, world)
	if one, two := segmentsBy(t, archive, d.Name, "w1"), segmentsBy(t, archive, d.Name, "w2"); one == 0 || two == 0 || out.Totals.Pages < 12*15 {
		t.Errorf("w1 has written %d segments, w2 %d; %d pages are counted", one, two, out.Totals.Pages)
	}
}

// learnedFrom is from how many pages the order of a worker has learned, and how many the worker has fetched itself, counted later.
func learnedFrom(t *testing.T, w *Worker, crawl string) (learned, fetched int64) {
	t.Helper()
	of := w.Activities().Frontier.Crawl(crawl)
	if order := of.Learning().Order(); order != nil {
		learned = int64(order.Pages())
	}
	status, err := of.Status()
	if err != nil {
		return 0, 0 // the crawl has not come to this worker yet
	}
	return learned, status.Totals.Pages
}

// TestThirdWorkerJoins: a third worker joins two that crawl a web together in which each page links to other hosts. Both hand partitions over at a
// time, and batches of these have links to those of the other.
func TestThirdWorkerJoins(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 33, Latency: 50 * time.Millisecond}, 36, 20))
	archive := spreadWorkers(t, server, world)
	d := Definition("third", world)
	d.Spread, d.Scope.Within = true, crawl.WithinWeb
	StartCrawl(t, server.Client, d)
	awaitPages(t, world, 36*20/4)
	world.SetLatency(time.Second) // so that the crawl does not end before the third worker has joined, however busy the machine is
	third := Config(server, world, t.TempDir())
	third.Name, third.Archive = "w3", archive
	StartWorker(t, third)
	server.awaitQuietRing(t, third.Name)
	world.SetLatency(0)
	if out := Result(t, server.Client, d.Name, CrawlTime); out.Reason != crawl.ReasonDrained {
		t.Errorf("it ends: %s", out.Reason)
	}
	if Once(t, Check(t, archive), world); segmentsBy(t, archive, d.Name, "w3") == 0 {
		t.Error("the third worker has written no segment")
	}
}

// TestSpreadBudget: two workers keep to one budget of pages, of hosts most of which share an address: claims that wait for it have a part of the budget, and
// all of that is used in the end.
func TestSpreadBudget(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.NewShared(webworld.Options{Seed: 12}, 12, 40, 1))
	archive := spreadWorkers(t, server, world)
	d := Definition("budget", world)
	d.Spread, d.Budget.Pages = true, 120
	StartCrawl(t, server.Client, d)
	out := Result(t, server.Client, d.Name, CrawlTime)
	report := Check(t, archive)
	if out.Reason != crawl.ReasonPages || out.Totals.Pages > d.Budget.Pages || out.Totals.Pages < d.Budget.Pages*9/10 {
		t.Errorf("it ends with %d pages of %d: %s; %d are archived", out.Totals.Pages, d.Budget.Pages, out.Reason, len(report.Pages))
	}
}

// TestLongSpreadBudget: of two worker processes that share a budget one is killed in the middle and never comes back. What it has archived is counted, what it was
// allotted and has not used goes to the other: the archive has exactly as many pages as the budget allows, and so says the crawl.
func TestLongSpreadBudget(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	limits := ring.Limits{Heartbeat: 2 * time.Second, Permit: 3 * time.Second, Grace: 3*time.Second + ring.Margin, CloseWithin: 5 * time.Second}
	options := client.StartWorkflowOptions{ID: names.ClusterID, TaskQueue: names.ClusterQueue}
	if _, err := server.Client.ExecuteWorkflow(t.Context(), options, names.Cluster, activities.ClusterInput{Limits: limits}); err != nil {
		t.Fatal(err)
	}
	process, s3 := newS3(t)
	process.start(t)
	t.Cleanup(func() { process.kill(t) })
	world := Serve(t, bench.New(webworld.Options{Seed: 13}, 24, 40))
	workers := []*killedProcess{newMoveWorker(t, "w1", server.Address, s3, world, moveHandOver), newMoveWorker(t, "w2", server.Address, s3, world, moveHandOver)}
	workers[0].start(t)
	server.awaitRing(t, "w1: up, 1024 owned")
	workers[1].start(t)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	d := Definition("budget", world)
	d.Spread, d.Budget.Pages = true, 400
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(300*time.Millisecond), crawl.Duration(300*time.Millisecond)
	StartCrawl(t, server.Client, d)
	awaitPages(t, world, 150)
	workers[1].kill(t)
	out := Result(t, server.Client, d.Name, CrawlTime)
	store, err := archive.Open(t.Context(), moveStore, s3)
	if err != nil {
		t.Fatal(err)
	}
	sum, by := archivedTotals(t, store, d)
	if t.Logf("archived by worker: %+v", by); out.Reason != crawl.ReasonPages || sum.Pages != d.Budget.Pages || out.Totals.Pages != sum.Pages || by["w2"].Pages == 0 {
		t.Errorf("of a budget of %d pages %d are archived, %d by the worker that was killed; the crawl counts %d, and ends: %s", d.Budget.Pages, sum.Pages, by["w2"].Pages, out.Totals.Pages, out.Reason)
	}
	dir := t.TempDir()
	s3Download(t, store, dir)
	for url, n := range Faultless(t, dir).Pages {
		if n > 1 {
			t.Errorf("%s is archived %d times", url, n)
		}
	}
}

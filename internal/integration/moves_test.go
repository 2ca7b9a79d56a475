package integration

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// moveStore is where the workers of these tests keep all.
const moveStore = "s3://" + killBucket + "/moves"

// How long a worker may hand over and drain in these tests, and how long it may take beyond that: the process ends, and the machine is slow.
const (
	moveHandOver = 20 * time.Second
	moveAway     = 4 * time.Second // the same where nobody answers: all of it passes
	moveDrain    = 2 * time.Second
	moveSlack    = 30 * time.Second
)

// newMoveWorker prepares a worker process of a ring.
func newMoveWorker(t *testing.T, name, temporal string, s3 archive.S3, world *webworld.World, handOver time.Duration) *killedProcess {
	t.Helper()
	w := newKilledWorker(t, t.TempDir(), temporal, moveStore, s3, world, "--name", name, "--hand-over", handOver.String(), "--drain", moveDrain.String())
	t.Cleanup(func() {
		if w.cmd != nil {
			w.kill(t)
		}
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", name, w.lastWords())
		}
	})
	return w
}

// stop sends SIGTERM, and returns how long the process takes to end.
func (k *killedProcess) stop(t *testing.T, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-k.done:
	case <-time.After(within):
		_ = k.cmd.Process.Signal(syscall.SIGQUIT) // it says where it stands
		t.Errorf("it has not ended %v after SIGTERM", within)
	}
	return time.Since(began)
}

// startMoving starts a crawl of a whole web over all workers, from one seed.
func startMoving(t *testing.T, server *Server, name string, world *webworld.World) crawl.Definition {
	t.Helper()
	d := movingDefinition(name, world)
	StartCrawl(t, server.Client, d)
	return d
}

func movingDefinition(name string, world *webworld.World) crawl.Definition {
	d := Definition(name, world)
	d.Spread, d.Scope.Within, d.Seeds = true, crawl.WithinWeb, d.Seeds[:1]
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(time.Second), crawl.Duration(2*time.Second)
	return d
}

// awaitPages waits until so many pages of a web were served.
func awaitPages(t *testing.T, world *webworld.World, n int) {
	t.Helper()
	Until(t, CrawlTime, "pages are served", func() string {
		if s := world.Stats(); s.Requests-s.Robots < n {
			return time.Now().String()
		}
		return ""
	})
}

// TestSpreadCrawlMoves: of two worker processes that crawl together one is stopped, and hands over within its time; a third one joins in the middle. Each
// page is asked once, by the hosts' count, is archived once, and the newcomer has fetched some.
func TestSpreadCrawlMoves(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	process, s3 := newS3(t)
	process.start(t)
	t.Cleanup(func() { process.kill(t) })
	world := Serve(t, bench.New(webworld.Options{Seed: 21}, 24, 30))
	workers := map[string]*killedProcess{}
	for _, name := range []string{"w1", "w2", "w3"} {
		workers[name] = newMoveWorker(t, name, server.Address, s3, world, moveHandOver)
	}
	workers["w1"].start(t)
	server.awaitRing(t, "w1: up, 1024 owned") // it lists them in the order in which they joined
	workers["w2"].start(t)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	d := startMoving(t, server, "moves", world)
	awaitPages(t, world, 24*30/5)
	took := workers["w1"].stop(t, moveHandOver+moveDrain+moveSlack)
	world.SetLatency(3 * time.Second) // so that the crawl does not end before w3 has joined, however busy the machine is
	server.awaitRing(t, "w2: up, 1024 owned")
	at := world.Stats().Requests
	workers["w3"].start(t)
	server.awaitQuietRing(t, "w3")
	world.SetLatency(0)
	out := Result(t, server.Client, d.Name, CrawlTime)
	t.Logf("w1 has ended %v after SIGTERM, at %d of %d requests; %+v", took.Round(time.Millisecond), at, world.Stats().Requests, out.Totals)
	if out.Reason != crawl.ReasonDrained {
		t.Errorf("it ends: %s", out.Reason)
	}
	if n := repeats(world.Stats()); n > 0 {
		t.Errorf("%d requests were repeated", n)
	}
	store, err := archive.Open(t.Context(), moveStore, s3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s3Download(t, store, dir)
	Once(t, Check(t, dir), world)
	sum, by := archivedTotals(t, store, d)
	if got := out.Totals; got.Pages != sum.Pages || got.Requests != sum.Requests || got.Errors != sum.Errors || got.Robots != sum.Robots {
		t.Errorf("the crawl counts %+v; the logs of its segments have %+v, by worker %+v", got, sum, by)
	}
	for name := range workers {
		if segmentsBy(t, dir, d.Name, name) == 0 {
			t.Errorf("%s has written no segment", name)
		}
	}
}

// archivedTotals counts what the logs of a crawl's segments have, of all workers and of each.
func archivedTotals(t *testing.T, store archive.Store, d crawl.Definition) (sum frontier.Totals, by map[string]frontier.Totals) {
	t.Helper()
	by = map[string]frontier.Totals{}
	walk := archive.Walk[frontier.Totals]{
		Of: archive.LayoutOf(d),
		Load: func(ctx context.Context, m archive.Manifest) (n frontier.Totals, err error) {
			err = archive.ReadLog(ctx, store, &m, func(l archive.Logged) error {
				if l.Kind != archive.LoggedRobots && l.Kind != archive.LoggedDNS {
					n.Count(crawl.Outcome{URL: l.URL, Kind: crawl.OutcomeKind(l.Kind), Status: l.Status, Bytes: l.Bytes}, crawl.ClassOf(l.Path))
				}
				return nil
			})
			return n, err
		},
	}
	err := walk.Each(t.Context(), store, func(m archive.Manifest, n frontier.Totals) error {
		of := by[m.Worker]
		of.Add(n)
		by[m.Worker] = of
		sum.Add(n)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum, by
}

// TestStopWhileAllIsAway: a worker that is stopped while neither Temporal nor the archive answers ends within its time, in the middle of a spread crawl.
func TestStopWhileAllIsAway(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"refused", "silent"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			server := StartServer(t)
			process, s3 := newS3(t)
			process.start(t)
			t.Cleanup(func() { process.kill(t) })
			world := Serve(t, bench.New(webworld.Options{Seed: 22}, 20, 200))
			temporal := newLink(t, ownAddress(), server.Address)
			to := newLink(t, ownAddress(), strings.TrimPrefix(s3.Endpoint, "http://"))
			s3.Endpoint = "http://" + to.address()
			w := newMoveWorker(t, "w1", temporal.address(), s3, world, moveAway)
			v := newMoveWorker(t, "w2", temporal.address(), s3, world, moveAway)
			w.start(t)
			server.awaitRing(t, "w1: up, 1024 owned")
			v.start(t)
			server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
			startMoving(t, server, "away", world)
			awaitPages(t, world, 100)
			for _, l := range []*link{temporal, to} {
				if how == "silent" {
					l.cut()
				} else {
					l.close()
				}
			}
			t.Logf("w1 has ended %v after SIGTERM", w.stop(t, moveAway+moveDrain+moveSlack).Round(time.Millisecond))
		})
	}
}

package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// plan is how often each victim is killed in one run of the kill test.
type plan struct{ workers, temporals, stores int }

// A short run is for CI. A long one takes some minutes.
var (
	shortKills = plan{workers: 3, temporals: 1, stores: 1}
	longKills  = plan{workers: 10, temporals: 3, stores: 3}
)

// envNumber reads a number from the environment.
func envNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestLongKilled kills worker, Temporal and S3 server without warning, during a crawl of a web with Crawl-delays, slow pages and
// disallowed URLs. No address ever sees two connections, no host or address sees a request before its time, and in the end every
// allowed page is archived once. MUNINN_KILL_SEED chooses the moments; MUNINN_KILL_RUNS is a number of long runs with the seeds from
// there on, in place of a short run.
func TestLongKilled(t *testing.T) {
	seed, runs, kills := envNumber(t, "MUNINN_KILL_SEED", 1), envNumber(t, "MUNINN_KILL_RUNS", 0), longKills
	if runs == 0 {
		t.Parallel()
		runs, kills = 1, shortKills
	}
	for n := range runs {
		t.Run(fmt.Sprintf("seed %d", seed+n), func(t *testing.T) { killed(t, seed+n, kills) })
	}
}

func killed(t *testing.T, seed uint64, kills plan) {
	perQueue := []int{12, 1, 2}[seed%3]
	t.Logf("MUNINN_KILL_SEED=%d repeats this run; per_queue %d", seed, perQueue)
	random := rand.New(rand.NewPCG(seed, seed))
	scale := 1 + kills.workers/5
	world := Serve(t, manners.New(webworld.Options{Seed: seed, Scale: scale, Trace: true, FirstIP: netip.MustParseAddr("127.91.0.1")}))
	rig := newKillRig(t, world, Program(t, "muninn-worker"))

	d := Definition("killed", world)
	d.Order.PerQueue = perQueue
	d.Scope.Within = crawl.WithinHost
	reference := int64(20)
	d.Reference.Pages = &reference
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(killDelay), crawl.Duration(5*time.Second)
	began := time.Now()
	StartCrawl(t, rig.client, d)

	var order []string
	for name, times := range map[string]int{"worker": kills.workers, "Temporal": kills.temporals, "S3": kills.stores} {
		for range times {
			order = append(order, name)
		}
	}
	slices.Sort(order)
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	pages := 0
	for _, p := range world.Pages() {
		if p.Allowed {
			pages++
		}
	}
	for n, name := range order {
		// Half of the kills come at any moment of the start, half when the crawl has made progress.
		progress := -1
		if random.IntN(2) == 0 {
			progress = random.IntN(1 + pages/2/len(order))
		}
		while, outage := time.Duration(random.Int64N(int64(2500*time.Millisecond))), time.Duration(random.Int64N(int64(4*time.Second)))
		if !rig.killOnce(t, name, progress, while, outage) {
			t.Logf("the crawl ended before kill %d of %d", n+1, len(order))
			if n < len(order)/2 {
				t.Errorf("it ended too soon")
			}
			break
		}
	}
	last := time.Now()
	result := Result(t, rig.client, d.Name, CrawlTime)
	stats := world.Stats()
	t.Logf("%v in all, %v of it after the last kill; %d requests for %d pages, %d of them for robots.txt, %d cut, %d repeated; %+v", time.Since(began).Round(100*time.Millisecond),
		time.Since(last).Round(100*time.Millisecond), stats.Requests, pages, stats.Robots, stats.Cut, repeats(stats), result.Totals)
	servedPolitely(t, world, killDelay)
	if t.Failed() {
		t.Log(traces(world))
	}
	rig.once(t)
	// A kill cuts a request on each address, and an outage of Temporal as many.
	if most := len(order) * len(stats.PerIP); repeats(stats) > most {
		t.Errorf("%d requests were repeated, at most %d may be", repeats(stats), most)
	}
}

// sitesOnce checks an archive of the demo web: each page once and nothing else, without a fault. Objects
// that a kill left behind are beside the segments, and no manifest names them.
func sitesOnce(t *testing.T, dir string, world *webworld.World) archivecheck.Report {
	t.Helper()
	report, err := archivecheck.CheckDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range report.Faults[:min(len(report.Faults), 20)] {
		t.Errorf("archive: %s", fault)
	}
	pages := truth(world)
	for url := range pages {
		if n := report.Pages[url]; n != 1 {
			t.Errorf("archive: %s is there %d times, want once", url, n)
		}
	}
	for url := range report.Pages {
		if _, known := pages[url]; !known {
			t.Errorf("archive: %s is there, which is not among the pages that can be reached", url)
		}
	}
	t.Logf("the archive holds %d pages in %d segments, %d revisits, %d orphans", len(report.Pages), report.Segments, report.Revisits, len(report.Orphans))
	return report
}

// TestLongInterrupted stops a crawl by Ctrl-C, once cleanly and once with a second Ctrl-C; the crawl continues both times.
func TestLongInterrupted(t *testing.T) {
	t.Parallel()
	world := demoWorld(t, "127.92.0.1")
	d := demoDefinition("interrupted", world)
	d.Politeness.MinDelay = crawl.Duration(25 * time.Millisecond)
	s := newSite(t, world, d, "--kb", ignorance(t))
	under := func(p *program) {
		t.Helper()
		from := world.Stats().Requests
		Until(t, soon, "the crawl is in progress", func() string {
			if world.Stats().Requests > from+20 || p.ended() {
				return ""
			}
			return "the servers see no request; muninn says:\n" + lines(p.out.String())
		})
		if p.ended() {
			t.Fatalf("muninn has ended with exit code %d:\n%s", p.cmd.ProcessState.ExitCode(), lines(p.out.String()))
		}
	}

	p := s.start()
	under(p)
	asked := time.Now()
	p.signal(os.Interrupt)
	if code := p.end(soon); code != 130 {
		t.Errorf("exit code %d after Ctrl-C, want 130:\n%s", code, lines(p.out.String()))
	}
	t.Logf("a clean stop took %v:\n%s", time.Since(asked).Round(10*time.Millisecond), lines(p.out.String()))

	p = s.start()
	under(p)
	asked = time.Now()
	p.signal(os.Interrupt)
	Until(t, soon, "the first Ctrl-C is noticed", func() string {
		if n := len(p.out.String()); n > 0 && p.ended() {
			return ""
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) { // it may end at any moment
			t.Fatal(err)
		}
		return "muninn runs on:\n" + lines(p.out.String())
	})
	if code := p.end(soon); code != 130 {
		t.Errorf("exit code %d after two Ctrl-C, want 130:\n%s", code, lines(p.out.String()))
	}
	t.Logf("a stop at once took %v", time.Since(asked).Round(10*time.Millisecond))

	p = s.start()
	if code := p.end(CrawlTime); code != 0 {
		t.Errorf("exit code %d:\n%s", code, lines(p.out.String()))
	}
	sitesOnce(t, s.archive(), world)
	polite(t, world.Stats(), d.Politeness.MinDelay.D())
}

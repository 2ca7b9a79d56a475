package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// plan is how many runs the crawl of the kill test has, and how often each victim is killed in them together.
type plan struct{ runs, workers, temporals, stores int }

// The short one is for CI. The long one takes some minutes.
var (
	shortKills = plan{runs: 2, workers: 3, temporals: 1, stores: 1}
	longKills  = plan{runs: 3, workers: 10, temporals: 3, stores: 3}
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

// TestLongKilled kills worker, Temporal and S3 server without warning, during runs of a recurring crawl of a web with Crawl-delays, slow pages and
// disallowed URLs, whose pages have requisites and change from run to run. The worker is also killed between the claim of a requisite and its answer, between
// fetching and the manifest, and between the manifest and the commit. No address ever sees two connections, no host or address sees a request before its time, and in the
// end of each run every allowed page and requisite is archived once in it, totals and crawl log say what became of each page, each page says which of
// its requisites were missing, and the intervals of pages have changed once. MUNINN_KILL_SEED chooses the moments; MUNINN_KILL_RUNS is a number of long tests
// with the seeds from there on, in place of a short one.
func TestLongKilled(t *testing.T) {
	seed, tests, kills := envNumber(t, "MUNINN_KILL_SEED", 1), envNumber(t, "MUNINN_KILL_RUNS", 0), longKills
	if tests == 0 {
		t.Parallel()
		tests, kills = 1, shortKills
	}
	for n := range tests {
		t.Run(fmt.Sprintf("seed %d", seed+n), func(t *testing.T) { killed(t, seed+n, kills) })
	}
}

// order is the order of the kills, each by the victim's name; of the worker, also the moment. The first one is in the first run, in which requisites are
// claimed as their pages are fetched.
func (p plan) order(random *rand.Rand) (order []string) {
	for n := range p.workers {
		order = append(order, "worker "+workerKills[n%len(workerKills)])
	}
	for name, times := range map[string]int{"Temporal": p.temporals, "S3": p.stores} {
		for range times {
			order = append(order, name)
		}
	}
	rest := order[1:]
	slices.Sort(rest)
	random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return order
}

func killed(t *testing.T, seed uint64, kills plan) {
	perQueue := []int{12, 1, 2}[seed%3]
	t.Logf("MUNINN_KILL_SEED=%d repeats this test; per_queue %d", seed, perQueue)
	random := rand.New(rand.NewPCG(seed, seed))
	scale := 1 + kills.workers/5
	web := manners.NewRecurring(webworld.Options{Seed: seed, Scale: scale, Trace: true, FirstIP: netip.MustParseAddr("127.91.0.1")})
	world := Serve(t, web.World)
	rig := newKillRig(t, world, Program(t, "muninn-worker"))

	d := Definition("killed", world)
	d.Order.PerQueue = perQueue
	d.Scope.Within = crawl.WithinHost
	reference := int64(20)
	d.Reference.Pages = &reference
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(killDelay), crawl.Duration(5*time.Second)
	d.Recrawl = crawl.Recrawl{Min: crawl.Duration(time.Second), Max: crawl.Duration(time.Hour)} // each run asks for all
	order := kills.order(random)
	var runs [][]manners.Recurred
	var before webworld.Stats
	for run := range kills.runs {
		if run > 0 {
			web.Turn()
		}
		began, finds := time.Now(), web.Finds()
		runs = append(runs, finds)
		StartCrawl(t, rig.client, d)
		mine := order[len(order)*run/kills.runs : len(order)*(run+1)/kills.runs]
		for n, name := range mine {
			outage := time.Duration(random.Int64N(int64(4 * time.Second)))
			moment, isWorker := strings.CutPrefix(name, "worker ")
			over := false
			if isWorker && moment != "" {
				over = !killWorker(t, rig, web, moment, outage)
			} else {
				// Half of these kills come at any moment of the start, half when the crawl has made progress.
				progress := -1
				if random.IntN(2) == 0 {
					progress = random.IntN(1 + len(finds)/2/len(order))
				}
				over = !rig.killOnce(t, strings.TrimSpace(name), progress, time.Duration(random.Int64N(int64(2500*time.Millisecond))), outage)
			}
			if over {
				t.Logf("run %d ended before kill %d of %d", run+1, n+1, len(mine))
				if n < len(mine)/2 {
					t.Errorf("it ended too soon")
				}
				break
			}
		}
		last := time.Now()
		result := Result(t, rig.client, d.Name, CrawlTime)
		stats := world.Stats()
		asked, repeated := askedSince(before, stats)
		t.Logf("run %d: %v in all, %v of it after the last kill; %d URLs asked for of %d, %d requests repeated; %+v", run+1, time.Since(began).Round(100*time.Millisecond),
			time.Since(last).Round(100*time.Millisecond), len(asked), len(finds), repeated, result.Totals)
		got, want := result.Totals, recurTotals(finds)
		if got = (frontier.Totals{
			Pages: got.Pages, Errors: got.Errors, Requisites: got.Requisites, RequisitesArchived: got.RequisitesArchived, RequisitesCut: got.RequisitesCut,
			New: got.New, Changed: got.Changed, Unchanged: got.Unchanged, Gone: got.Gone, Forbidden: got.Forbidden, NotDue: got.NotDue,
		}); got != want {
			t.Errorf("run %d: the totals are %+v, want %+v", run+1, got, want)
		}
		rig.recurred(t, d.Name, uint32(run)+1, finds)
		// A kill cuts a request on each address, and an outage of Temporal as many.
		if most := len(mine) * len(stats.PerIP); repeated > most {
			t.Errorf("run %d: %d requests were repeated, at most %d may be", run+1, repeated, most)
		}
		before = stats
	}
	servedPolitely(t, world, killDelay)
	if t.Failed() {
		t.Log(traces(world))
	}
	rig.recurIntervals(t, d.Name, runs)
}

// sitesOnce checks an archive of the demo web: each page once and nothing else, without a fault. Objects
// that a kill left behind are beside the segments, and no manifest names them.
func sitesOnce(t *testing.T, dir string, world *webworld.World) archivecheck.Report {
	t.Helper()
	report := Faultless(t, dir)
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

package integration

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// variant is a way of crawling that must not change what is archived.
type variant struct {
	name     string
	perQueue int
	bundle   int // PLDs in a batch
	lanes    int
	crash    bool
}

// TestLongSimulated crawls the same web with other sizes of batches and bundles and other numbers of lanes, once with a
// crash: the archive is always the same.
func TestLongSimulated(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	port := 0
	var want map[string]int
	for i, v := range []variant{
		{"plain", 17, 64, 256, false},
		{"small", 3, 64, 256, false},
		{"large", 200, 64, 256, false},
		{"narrow", 17, 1, 4, false},
		{"single", 200, 64, 1, false},
		{"crashed", 17, 64, 256, true},
	} {
		t.Run(v.name, func(t *testing.T) {
			world := Serve(t, webworld.NewDemo(webworld.Options{Seed: 1, FirstIP: netip.AddrFrom4([4]byte{127, 93, byte(i), 1}), Port: port}))
			port = world.Port() // so that all have the same URLs
			d := demoDefinition("sim-"+v.name, world)
			d.Scope.Hosts = append(d.Scope.Hosts, forumHost)
			d.Order.PerQueue = v.perQueue
			d.Politeness.MinDelay, d.Politeness.Factor = 0, 0
			d.Politeness.MaxCrawlDelay = crawl.Duration(100 * time.Millisecond)
			began := time.Now()
			var dir string
			if v.crash {
				dir = simCrashed(t, server, world, d)
			} else {
				dir = simRun(t, server, world, d, v)
			}
			report := Check(t, dir)
			t.Logf("%v: %d URLs in %d segments, %d responses, %d revisits", time.Since(began).Round(100*time.Millisecond),
				len(report.Pages), report.Segments, report.Responses, report.Revisits)
			polite(t, world.Stats(), 0)
			if want == nil {
				want = report.Pages
			}
			simSame(t, report, want)
		})
	}
}

func simRun(t *testing.T, server *Server, world *webworld.World, d crawl.Definition, v variant) (archive string) {
	t.Helper()
	dir := t.TempDir()
	conf := Config(server, world, dir)
	conf.Name, conf.BundlePLDs, conf.Lanes = v.name, v.bundle, v.lanes
	w := StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Totals.Failed > 0 {
		t.Errorf("the crawl ended with %q and %d failed batches", result.Reason, result.Totals.Failed)
	}
	checkOutcomes(t, w.Activities().Frontier.Crawl(d.Name))
	w.Stop()
	return conf.Archive
}

// simCrashed kills a crawl once, in the middle.
func simCrashed(t *testing.T, server *Server, world *webworld.World, d crawl.Definition) (archive string) {
	t.Helper()
	s := newSite(t, world, d, "--temporal", server.Address, "--retry-base", "200ms", "--robots-retry", "200ms", "--max-attempts", "2")
	p := s.start()
	Until(t, soon, "the crawl makes progress", func() string {
		if n := world.Stats().Requests; n < len(world.Pages())/6 && !p.ended() {
			return fmt.Sprintf("%d requests; muninn says:\n%s", n, lines(p.out.String()))
		}
		return ""
	})
	if p.ended() {
		t.Fatalf("the crawl is over before it could be killed:\n%s", lines(p.out.String()))
	}
	p.kill()
	p = s.start()
	if code := p.end(CrawlTime); code != 0 {
		t.Errorf("exit code %d:\n%s", code, lines(p.out.String()))
	}
	return s.archive()
}

// simSame compares the captures of each URL.
func simSame(t *testing.T, report archivecheck.Report, want map[string]int) {
	t.Helper()
	for _, url := range slices.Sorted(maps.Keys(want)) {
		if report.Pages[url] != want[url] {
			t.Errorf("%s is there %d times, in the first archive %d times", url, report.Pages[url], want[url])
		}
	}
	for _, url := range slices.Sorted(maps.Keys(report.Pages)) {
		if report.Pages[url] != 1 {
			t.Errorf("%s is there %d times", url, report.Pages[url])
		}
		if want[url] == 0 {
			t.Errorf("%s is there, and not in the first archive", url)
		}
	}
}

// checkOutcomes checks that every URL that was claimed has an outcome.
func checkOutcomes(t *testing.T, crawl frontier.Crawl) (states map[string]int) {
	t.Helper()
	states = map[string]int{}
	err := crawl.URLs().Known(func(url, state string) error {
		if states[state]++; state == "waiting" || state == "delayed" {
			t.Errorf("%s is %s", url, state)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return states
}

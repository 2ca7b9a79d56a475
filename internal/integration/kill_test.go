package integration

import (
	"cmp"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// killSeed chooses the moments of the kills; MUNINN_TEST_SEED chooses others.
func killSeed(t *testing.T) uint64 {
	text := cmp.Or(os.Getenv("MUNINN_TEST_SEED"), "4")
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("MUNINN_TEST_SEED: %v", err)
	}
	return seed
}

// TestLongKilled kills a crawl ten times without warning: in the end every page is archived once.
func TestLongKilled(t *testing.T) {
	t.Parallel()
	const kills = 10
	seed := killSeed(t)
	random := rand.New(rand.NewPCG(seed, seed))
	world := demoWorld(t, "127.91.0.1")
	d := demoDefinition("killed", world)
	reference := int64(60)
	d.Reference.Pages = &reference
	s := newSite(t, world, d, "--kb", ignorance(t))
	began := time.Now()

	var p *program
	for n := 1; n <= kills; n++ {
		// Half of the kills come at any moment of the start, half once the crawl has got on.
		progress := -1
		if n%2 == 0 {
			progress = random.IntN(len(truth(world)) / 2 / kills)
		}
		p = s.start()
		if !killOnce(t, p, d.Name, world, progress, time.Duration(random.Int64N(int64(2500*time.Millisecond)))) {
			t.Logf("the crawl ended before kill %d", n)
			if n <= kills/2 {
				t.Fatalf("it ended too soon, with exit code %d:\n%s", p.cmd.ProcessState.ExitCode(), lines(p.out.String()))
			}
			break
		}
	}
	last := time.Now()
	if p.cmd.ProcessState.ExitCode() != 0 {
		p = s.start()
	}
	if code := p.end(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d:\n%s", code, lines(p.out.String()))
	}
	stats := world.Stats()
	t.Logf("%v in all, %v of it after the last kill; %d requests, %d of them for robots.txt, %d cut, %d repeated", time.Since(began).Round(100*time.Millisecond),
		time.Since(last).Round(100*time.Millisecond), stats.Requests, stats.Robots, stats.Cut, repeats(stats))

	sitesOnce(t, s.archive(), world)
	polite(t, stats, killDelay)
	if gap, asked := stats.HostGaps["archive.nornir.test"]; !asked || gap < time.Second {
		t.Errorf("archive.nornir.test was asked %v after the last time; its Crawl-delay is a second", gap)
	}
	hiccups := 2 // a 429 and a 503, whose URLs are asked for again
	if most := kills*len(stats.PerIP) + hiccups; repeats(stats) > most {
		t.Errorf("%d requests were repeated, at most %d may be", repeats(stats), most)
	}
}

// killOnce kills a program after a while; if progress is not negative, after that many further requests
// and a while. It returns false if the program ended before.
func killOnce(t *testing.T, p *program, crawl string, world *webworld.World, progress int, while time.Duration) bool {
	t.Helper()
	const patience = time.Minute
	from, asked := time.Now(), world.Stats().Requests
	first := time.Duration(0) // until the first request
	if progress >= 0 {
		Until(t, patience, "the crawl goes on after a kill", func() string {
			now := world.Stats().Requests
			if now > asked && first == 0 {
				first = time.Since(from)
			}
			if p.ended() || now > asked+progress {
				return ""
			}
			if time.Since(from) < patience*9/10 {
				return "the servers see no further request"
			}
			return "the servers see no further request; " + p.pending(crawl)
		})
	}
	timer := time.NewTimer(while)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
	if p.ended() {
		return false
	}
	p.kill()
	t.Logf("killed after %v, with %d more requests, the first after %v", time.Since(from).Round(10*time.Millisecond),
		world.Stats().Requests-asked, first.Round(10*time.Millisecond))
	return true
}

// sitesOnce checks an archive of the demo web: each page of it once and nothing else, without a fault.
// What a kill left behind lies beside the segments, and no manifest names it.
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

// TestLongInterrupted stops a crawl by Ctrl-C: once cleanly, twice at once; it goes on both times.
func TestLongInterrupted(t *testing.T) {
	t.Parallel()
	world := demoWorld(t, "127.92.0.1")
	d := demoDefinition("interrupted", world)
	d.Politeness.MinDelay = crawl.Duration(25 * time.Millisecond)
	s := newSite(t, world, d, "--kb", ignorance(t))
	under := func(p *program) {
		t.Helper()
		from := world.Stats().Requests
		Until(t, soon, "the crawl is under way", func() string {
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
		p.signal(os.Interrupt)
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

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// askedOf are the requests for pages of a host so far.
func askedOf(world *webworld.World, host string) (list []webworld.Asked) {
	for _, a := range world.Trace() {
		if strings.HasPrefix(a.URL, "http://"+host) && !strings.HasSuffix(a.URL, "/robots.txt") {
			list = append(list, a)
		}
	}
	return list
}

// inForce is how soon batches in progress must obey a change, and inForceRequests how many requests a lane makes meanwhile with the pauses of these tests, a tenth of a second, and a
// latency of 20 ms. Requests are counted, because a busy machine takes longer for all.
const (
	inForce         = 2 * time.Second
	inForceRequests = int(inForce / (120 * time.Millisecond))
)

// askedAfter counts the requests that began after a time.
func askedAfter(list []webworld.Asked, at time.Time) (n int) {
	for _, a := range list {
		if a.Began.After(at) {
			n++
		}
	}
	return n
}

// hasty counts the requests after a time that began sooner after the one before than a gap.
func hasty(list []webworld.Asked, at time.Time, gap time.Duration) (n int) {
	for i := 1; i < len(list); i++ {
		if list[i].Began.After(at) && list[i].Began.Sub(list[i-1].Ended) < gap {
			n++
		}
	}
	return n
}

// Requests after which it is known whether a change is in force: so many in a row obey it, or there were so many in all. Requests are waited for and not time, else a change without effect
// passes on a machine that makes few requests; one pause alone may be that between two batches.
const (
	pausesInARow    = 3
	requestsWithout = 3 * inForceRequests
)

// obeyed returns the requests to a host once enough of them came after a time to see whether a delay is in force.
func obeyed(t *testing.T, world *webworld.World, host string, at time.Time, delay time.Duration) (list []webworld.Asked) {
	t.Helper()
	Until(t, soon, "requests to "+host+" after its delay was changed", func() string {
		list = askedOf(world, host)
		row := 0
		for i := len(list) - 1; i > 0 && list[i].Began.After(at) && list[i].Began.Sub(list[i-1].Ended) >= delay; i-- {
			row++
		}
		if n := askedAfter(list, at); row < pausesInARow && n < requestsWithout {
			return fmt.Sprintf("%d, the last %d with the delay", n, row)
		}
		return ""
	})
	return list
}

// An operator slows a PLD down, pauses another, and aborts a third while batches of them run, and aborts the crawl. The hosts see it, and
// what was fetched is archived.
func TestSteer(t *testing.T) {
	t.Parallel()
	Program(t, "muninn")
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 31, Latency: 20 * time.Millisecond, Trace: true}, 4, 5000))
	dir := t.TempDir()
	worker := StartWorker(t, Config(server, world, dir))
	known, archive := worker.Activities().Frontier, filepath.Join(dir, "archive")
	d := Definition("steered", world)
	d.Order.PerQueue, d.Order.Strategy = 40, crawl.StrategyBreadth
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(100*time.Millisecond), crawl.Duration(100*time.Millisecond)
	o := operator{t, server}
	slow, paused, aborted, other := "site00000.example", "site00001.example", "site00002.example", "site00003.example"
	grows := func(host string, by int) {
		t.Helper()
		before := len(askedOf(world, host))
		Until(t, soon, "requests to "+host, func() string {
			if n := len(askedOf(world, host)) - before; n < by {
				return fmt.Sprint(n)
			}
			return ""
		})
	}
	// queue is what the frontier says of a PLD's queue.
	queue := func(pld string) (busy bool, waiting int) {
		t.Helper()
		u, err := urls.Parse(fmt.Sprintf("http://%s:%d/", pld, world.Port()))
		if err != nil {
			t.Fatal(err)
		}
		e, err := known.Crawl(d.Name).URLs().Explain(u)
		if err != nil {
			t.Fatal(err)
		}
		return e.Busy, e.Waiting
	}
	StartCrawl(t, server.Client, d)
	for _, host := range []string{slow, paused, aborted, other} {
		grows(host, 15)
	}

	const gap = 3 * time.Second
	o.muninn(0, "configure", d.Name, "--pld", slow, "--min-delay", gap.String(), "--budget", "1000")
	since := time.Now()
	before := len(askedOf(world, slow))
	list := obeyed(t, world, slow, since, gap)
	late := hasty(list, since, gap)
	t.Logf("after the command has returned, the former delay was seen at %d requests; %d requests before", late, before)
	if late > inForceRequests {
		t.Errorf("the former delay was in force for %d requests after the change, want at most %d:\n%v", late, inForceRequests, list[before:])
	}
	plan, err := known.Crawl(d.Name).Plan()
	if err != nil || plan.Definition.BudgetOf(slow).PerPLD != 1000 {
		t.Errorf("in force is %+v, %v", plan.Definition.Overrides, err)
	}
	if kept := definitions(t, archive, d.Name); len(kept) != 2 || kept[1].PolitenessFor(slow, slow).MinDelay.D() != gap {
		t.Errorf("the archive keeps %d definitions", len(kept))
	}

	o.muninn(0, "pause", d.Name, "--pld", paused)
	Until(t, soon, "the batch of the paused PLD ends", func() string {
		if busy, _ := queue(paused); busy {
			return "a claim is in progress"
		}
		return ""
	})
	n := len(askedOf(world, paused))
	grows(other, 30)
	if now := len(askedOf(world, paused)); now != n {
		t.Errorf("%d requests to the paused PLD", now-n)
	}
	o.muninn(0, "resume", d.Name, "--pld", paused)
	grows(paused, 5)

	o.muninn(0, "abort", d.Name, "--pld", aborted)
	since = time.Now()
	Until(t, soon, "the URLs of the aborted PLD end", func() string {
		if busy, waiting := queue(aborted); busy || waiting > 0 {
			return fmt.Sprintf("%d wait, busy %v", waiting, busy)
		}
		return ""
	})
	if late := askedAfter(askedOf(world, aborted), since); late > inForceRequests {
		t.Errorf("%d requests after it was aborted, want at most %d", late, inForceRequests)
	}
	if text, _ := o.muninn(2, "pause", d.Name, "--pld", "www.example.org"); text != "" {
		t.Errorf("it says %s", text)
	}
	if _, said := o.muninn(2, "configure", d.Name, "--pld", slow, "--min-delay", "48h"); !strings.Contains(said, "overrides.plds["+slow+"].min_delay") {
		t.Errorf("it says %s", said)
	}

	o.muninn(0, "abort", d.Name)
	since = time.Now()
	result := Result(t, server.Client, d.Name, CrawlTime)
	t.Logf("the crawl ended %v after it was aborted, with %d pages", time.Since(since).Round(time.Millisecond), result.Totals.Pages)
	if result.Reason != crawl.ReasonAborted {
		t.Errorf("it ended: %s", result.Reason)
	}
	report := Check(t, archive)
	allArchived(t, world, report)
	text, _ := o.muninn(0, "log", archive, "--failed")
	if !strings.Contains(text, "an operator has aborted "+aborted) {
		t.Errorf("the log has no word of it: %.500s", text)
	}
}

// allArchived checks that each page that a host has answered in full is in the archive; the last one of each host may have been cut off.
func allArchived(t *testing.T, world *webworld.World, report archivecheck.Report) {
	t.Helper()
	for _, site := range world.Sites() {
		list := askedOf(world, site.Host)
		for i, a := range list {
			if !a.Cut && !a.Live && i < len(list)-1 && report.Pages[a.URL] == 0 {
				t.Errorf("%v is not in the archive", a)
			}
		}
	}
}

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// hostsOf is a host of each of two workers.
func hostsOf(t *testing.T, server *Server, world *webworld.World, workers ...string) (hosts []string) {
	t.Helper()
	view, err := activities.ViewRing(t.Context(), server.Client, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range workers {
		for _, site := range world.Sites() {
			u, err := urls.Parse("http://" + site.Host + "/")
			if err != nil {
				t.Fatal(err)
			}
			if owner, owned := view.Owner(ring.PartitionOf(u.PLD())); owned && owner.Name == name {
				hosts = append(hosts, site.Host)
				break
			}
		}
	}
	if len(hosts) != len(workers) {
		t.Fatalf("of %v the web has %v", workers, hosts)
	}
	return hosts
}

// TestSpreadSteer: an operator steers a crawl of two workers as one of one worker: a change is in force at running fetchers of both within two seconds,
// counted at the hosts, for the crawl, for single PLDs and for hosts; URLs are explained and submitted to the worker whose they are;
// pause, resume, abort and stop, of single PLDs too, hold for both.
func TestSpreadSteer(t *testing.T) {
	t.Parallel()
	Program(t, "muninn")
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 33, Latency: 20 * time.Millisecond, Trace: true}, 12, 5000))
	archive, _ := startSpread(t, server, world, nil)
	hosts := hostsOf(t, server, world, "w1", "w2")
	d := Definition("steered", world)
	d.Spread, d.Budget.Pages = true, 12*5000 // it is not to end by itself
	const usual, gap = 100 * time.Millisecond, time.Second
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(usual), crawl.Duration(usual)
	o := operator{t, server}
	base := serve(t, server)
	grows := func(host string, by int) {
		t.Helper()
		n := len(askedOf(world, host)) + by
		Until(t, soon, "requests to "+host, func() string {
			if now := len(askedOf(world, host)); now < n {
				return fmt.Sprintf("%d of %d", now, n)
			}
			return ""
		})
	}
	all := func(by int) {
		t.Helper()
		for _, host := range hosts {
			grows(host, by)
		}
	}
	StartCrawl(t, server.Client, d)
	all(10)

	plds := strings.Join(hosts, ",") // one of each worker: each change must reach the other one, too
	// delayed slows something down, and counts for how long the former delay was seen at the hosts.
	delayed := func(of ...string) {
		t.Helper()
		configure := slices.Concat([]string{"configure", d.Name}, of)
		o.muninn(0, append(configure, "--min-delay", gap.String(), "--max-delay", gap.String())...)
		since := time.Now()
		for _, host := range hosts {
			late := hasty(obeyed(t, world, host, since, gap), since, gap)
			if t.Logf("%s: %s: the former delay was seen at %d requests", configure, host, late); late > inForceRequests {
				t.Errorf("%s: %s: the former delay was in force for %d requests after the change, want at most %d", configure, host, late, inForceRequests)
			}
		}
		o.muninn(0, append(configure, "--min-delay", usual.String(), "--max-delay", usual.String())...)
	}
	delayed()
	delayed("--pld", plds)
	delayed("--host", plds)
	others := slices.DeleteFunc(world.Sites(), func(s webworld.Site) bool { return slices.Contains(hosts, s.Host) })
	o.muninn(0, "pause", d.Name, "--pld", plds)
	Until(t, soon, "the claims of the paused PLDs end", func() string {
		for _, host := range hosts {
			if e, _ := o.explain(d.Name, "http://"+host+"/"); e.Busy {
				return host
			}
		}
		return ""
	})
	paused := len(askedOf(world, hosts[0])) + len(askedOf(world, hosts[1]))
	for _, site := range others {
		grows(site.Host, 1)
	}
	if now := len(askedOf(world, hosts[0])) + len(askedOf(world, hosts[1])); now != paused {
		t.Errorf("%d requests to paused PLDs", now-paused)
	}
	o.muninn(0, "resume", d.Name, "--pld", plds)
	all(5)

	file, handed := "", []string{}
	for i, host := range hosts {
		seed := "http://" + host + "/"
		if e, _ := o.explain(d.Name, askedOf(world, host)[0].URL); e.State == frontier.URLUnknown {
			t.Errorf("what was requested of %s first is unknown: %+v", host, e)
		}
		file += fmt.Sprintf("%shanded-in?n=%d\n", seed, i)
		handed = append(handed, fmt.Sprintf(`{"url": "%shanded-in?m=%d", "score": 0.5}`, seed, i))
	}
	text, _ := o.muninn(0, "submit", d.Name, write(t, "urls.txt", file), "--score", "0.9")
	if strings.Count(text, "accepted ") != len(hosts) {
		t.Errorf("submit says\n%s", text)
	}
	if code, body := hand(t, base, d.Name, "17", serveToken, "["+strings.Join(handed, ",")+"]"); code != http.StatusOK || strings.Count(body, `"answer":"accepted"`) != len(hosts) {
		t.Errorf("the service says %d %s", code, body)
	}
	for i, host := range hosts {
		for _, query := range []string{"n", "m"} {
			if e, _ := o.explain(d.Name, fmt.Sprintf("http://%s/handed-in?%s=%d", host, query, i)); e.State == frontier.URLUnknown {
				t.Errorf("what was handed in for %s is unknown", host)
			}
		}
	}
	text, _ = o.muninn(0, "status", d.Name, "--wait", "30s")
	for _, want := range []string{"  worker    w1: crawling, ", "  worker    w2: crawling, "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the status:\n%s", want, lines(text))
		}
	}

	o.muninn(0, "pause", d.Name)
	Until(t, soon, "the running batches end, and their leases with them", func() string { // the list of workflows is late; a batch that begins meanwhile has a lease
		n, leases := len(server.list(t, batches(d.Name, "Running"))), held(server.shard(t))
		if n > 0 || leases != "" {
			return fmt.Sprintf("%d run; %s", n, leases)
		}
		return ""
	})
	before := world.Stats().Requests
	text, _ = o.muninn(0, "status", d.Name, "--wait", "30s")
	if now := world.Stats().Requests; now != before || strings.Count(text, ": paused, ") != len(hosts) {
		t.Errorf("%d requests while it is paused:\n%s", now-before, lines(text))
	}
	o.muninn(0, "resume", d.Name)
	all(5)

	aborted := make([]time.Time, len(hosts))
	for i, host := range hosts {
		o.muninn(0, "abort", d.Name, "--pld", host)
		aborted[i] = time.Now()
	}
	Until(t, soon, "other hosts are asked often afterwards", func() string {
		for _, site := range others {
			if n := askedAfter(askedOf(world, site.Host), aborted[len(hosts)-1]); n < requestsWithout {
				return fmt.Sprintf("%s %d times", site.Host, n)
			}
		}
		return ""
	})
	for i, host := range hosts {
		if late := askedAfter(askedOf(world, host), aborted[i]); late > inForceRequests {
			t.Errorf("%s had %d requests after it was aborted, want at most %d", host, late, inForceRequests)
		}
		Until(t, soon, "the URLs of the aborted PLD end, once the batch of its claim is committed", func() string {
			if e, _ := o.explain(d.Name, "http://"+host+"/"); e.Waiting > 0 || e.Busy {
				return fmt.Sprintf("of %s %d wait, busy: %t", host, e.Waiting, e.Busy)
			}
			return ""
		})
	}
	o.muninn(0, "abort", d.Name)
	if result := Result(t, server.Client, d.Name, CrawlTime); result.Reason != crawl.ReasonAborted {
		t.Errorf("it ended: %s", result.Reason)
	}
	report := Check(t, archive)
	allArchived(t, world, report)

	StartCrawl(t, server.Client, d) // another run
	all(5)
	o.muninn(0, "stop", d.Name, "--pld", hosts[0])
	Until(t, soon, "the claim of the stopped PLD ends", func() string {
		if e, _ := o.explain(d.Name, "http://"+hosts[0]+"/"); e.Busy {
			return "it is busy"
		}
		return ""
	})
	drained := len(askedOf(world, hosts[0]))
	grows(hosts[1], 20)
	if now := len(askedOf(world, hosts[0])); now != drained {
		t.Errorf("%d requests to a PLD that was stopped, after its claim", now-drained)
	}
	o.muninn(0, "stop", d.Name)
	stopped := time.Now()
	if result := Result(t, server.Client, d.Name, CrawlTime); result.Reason != crawl.ReasonStopped || result.Run != 2 {
		t.Errorf("run %d ended: %s", result.Run, result.Reason)
	}
	t.Logf("it ended %v after it was stopped", time.Since(stopped).Round(time.Millisecond))
	allArchived(t, world, Check(t, archive))
}

package integration

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/tree"
)

// The chaos runs. The short one is for CI: there a terminated shard of politeness, which grants nothing for 15 minutes, and a destroyed
// disk, which needs a checkpoint made before, are left out.
var (
	shortChaos = chaosPlan{
		time: 90 * time.Second, every: 7 * time.Second, orderEvery: 4 * time.Second, hosts: 30, pages: 55, delay: 300 * time.Millisecond, workers: []string{"w1", "w2", "w3"}, shards: 2,
		kinds: []chaosKind{
			{kind: faultS3, weight: 1, least: 8 * time.Second, most: 12 * time.Second},
			{kind: faultTempo, weight: 2, least: 200 * time.Millisecond, most: 6 * time.Second},
			{kind: faultCut, weight: 3, least: 2 * time.Second, most: 20 * time.Second},
			{kind: faultFill, weight: 1, least: 5 * time.Second, most: 12 * time.Second},
			{kind: faultGuest, weight: 1, least: 10 * time.Second, most: 30 * time.Second},
			{kind: faultKill, weight: 5, least: 0, most: 6 * time.Second},
		},
	}
	longChaos = chaosPlan{
		time: 10 * time.Minute, every: 9 * time.Second, orderEvery: 10 * time.Second, hosts: 75, pages: 275, delay: 450 * time.Millisecond, workers: []string{"w1", "w2", "w3"}, shards: 6, quiet: 75 * time.Second, begun: true,
		clocks: map[string]time.Duration{"w1": 2 * time.Minute, "w2": -2 * time.Minute},
		kinds: []chaosKind{
			{kind: faultDestroy, weight: 1, least: time.Second, most: 20 * time.Second},
			{kind: faultS3, weight: 1, least: 55 * time.Second, most: 65 * time.Second},
			{kind: faultShard, weight: 1, least: 0, most: 0, once: true},
			{kind: faultTempo, weight: 3, least: 200 * time.Millisecond, most: 15 * time.Second},
			{kind: faultCut, weight: 4, least: 2 * time.Second, most: time.Minute},
			{kind: faultFill, weight: 2, least: 10 * time.Second, most: 40 * time.Second},
			{kind: faultGuest, weight: 2, least: 20 * time.Second, most: 2 * time.Minute},
			{kind: faultKill, weight: 8, least: 0, most: 15 * time.Second},
		},
	}
)

// TestLongChaos runs two crawls with shared hosts on three workers, and meanwhile kills workers, Temporal and S3 server, cuts workers off,
// fills their disks, destroys them, adds, removes and loses workers, and in a long run terminates a shard of politeness. An operator submits URLs, blacklists others, changes pauses, and
// pauses crawls. No address ever sees
// two connections, or a request before its time, or one that robots.txt disallows; in the end each crawl has archived every allowed page
// once, with the requisites of pages, also those that were submitted; nothing was asked for that had been blacklisted, and nothing is left running. A second run, without faults, then finds all of them known: by the bounds of recrawl it
// asks for the seeds alone. In a short run one crawl is spread over the workers, in a long run both are. MUNINN_CHAOS_SEED chooses the
// faults and their moments, MUNINN_CHAOS=long a run of ten minutes of them, and MUNINN_CHAOS_SPREAD how many crawls are spread: 0, 1 or 2.
func TestLongChaos(t *testing.T) {
	seed, plan, spread := envNumber(t, "MUNINN_CHAOS_SEED", 1), shortChaos, uint64(1)
	if os.Getenv("MUNINN_CHAOS") == "long" {
		plan, spread = longChaos, uint64(len(chaosCrawls))
		if !canBeWrong {
			plan.clocks = nil
			t.Log("all clocks are right: a wrong one needs linux/amd64")
		}
	} else {
		t.Parallel()
	}
	if spread = envNumber(t, "MUNINN_CHAOS_SPREAD", spread); spread > 0 {
		plan = plan.spreadOut(int(spread))
	}
	t.Logf("MUNINN_CHAOS_SEED=%d repeats the sequence of faults", seed)
	world := Serve(t, tree.New(webworld.Options{Seed: seed, Trace: true, FirstIP: netip.MustParseAddr("127.104.0.1")}, plan.hosts, plan.pages))
	newChaosRig(t, plan, world).run(t, plan.faults(seed), plan.orders(seed))
}

// chaosCrawls are the crawls of a run.
var chaosCrawls = []string{"odin", "freya"}

// run crawls under faults and orders, and checks what comes of it.
func (r *chaosRig) run(t *testing.T, list []fault, ordered []order) {
	t.Helper()
	for n, name := range chaosCrawls {
		c := r.newCrawl(name, n, n+1)
		r.crawls = append(r.crawls, c)
		r.startCrawl(t, c)
	}
	if r.plan.begun {
		Until(t, soon, "the crawls have begun", func() string {
			if r.world.Stats().Requests == 0 {
				return "nothing was asked yet"
			}
			return ""
		})
	}
	began, orders := time.Now(), newChaosOrders(r, ordered)
	for i, s := range steps(list) {
		for time.Since(began) < s.at() {
			r.tend(t)
			orders.give(t, time.Since(began))
			<-time.After(min(100*time.Millisecond, max(0, s.at()-time.Since(began))))
		}
		if !s.ends && r.over(t) {
			t.Errorf("the crawls ended before step %d, %v: the test tests little", i+1, s.fault)
			break
		}
		r.do(t, s)
	}
	faults, asked := time.Since(began), r.world.Stats().Requests
	r.finish(t)
	orders.wait(t)
	orders.apply()
	wanted, stats := 0, r.world.Stats()
	for _, c := range r.crawls {
		for _, p := range c.pages {
			if p.Allowed {
				wanted++
			}
		}
	}
	t.Logf("%v of faults, %v after the last one; %d requests for %d pages, %d of them while there were faults, %d for robots.txt, %d cut",
		faults.Round(time.Second), (time.Since(began) - faults).Round(time.Second), stats.Requests, wanted, asked, stats.Robots, stats.Cut)
	if asked < wanted*chaosAsked/100 {
		t.Errorf("%d requests while there were faults, of %d pages: the test tests little", asked, wanted)
	}
	r.check(t)
	orders.check(t)
	if !t.Failed() {
		r.again(t)
		orders.check(t)
	}
}

// chaosAsked is how many percent of the pages are asked for while there are faults, at least: runs of ten minutes had 4 to 15, with most hosts waiting for the ring's grace or for a
// shard of politeness at any moment; those of 90 seconds have more.
const chaosAsked = 2

// again runs the crawls once more, at once: each page was asked by the run before, and is not due, but for the seeds. So it is known to the frontier that
// has its partition by now, as done, wherever it was when the page was fetched.
func (r *chaosRig) again(t *testing.T) {
	t.Helper()
	began, before := time.Now(), r.world.Stats().Requests
	for _, c := range r.crawls {
		r.startCrawl(t, c)
	}
	r.finish(t)
	seeds := 0
	for _, c := range r.crawls {
		seeds += len(c.Seeds)
		known, n := int64(len(c.pages)), int64(len(c.Seeds))                                                                                           // what is blacklisted is not known as something that was fetched
		if got := c.totals; got.Pages != n || got.Unchanged != n || got.NotDue < known || got.NotDue > known+c.unsure || got.RequisitesArchived != 0 { // seeds are not due either
			t.Errorf("the second run of %s has %d pages, %d unchanged, %d requisites, and %d URLs are not due; want the %d seeds unchanged, and all %d not due",
				c.Name, got.Pages, got.Unchanged, got.RequisitesArchived, got.NotDue, n, known)
		}
	}
	stats := r.world.Stats()
	t.Logf("the second run took %v: %d requests for %d seeds", time.Since(began).Round(time.Second), stats.Requests-before, seeds)
	servedPolitely(t, r.world, r.plan.delay)
}

// newCrawl is a crawl of groups of the web, bound to the worker of that number unless it is spread.
func (r *chaosRig) newCrawl(name string, worker, last int) chaosCrawl {
	d := crawl.DefaultDefinition()
	d.Name, d.Topic.Keywords, d.Spread = name, r.world.Topic(), worker < r.plan.spread
	d.Archive.Where = "s3://" + killBucket + "/" + name
	none := int64(0)
	d.Reference.Pages = &none
	d.Scope.Within = ""
	d.Order.PerQueue = 6
	d.Politeness.MinDelay, d.Politeness.MaxDelay, d.Politeness.Factor = crawl.Duration(r.plan.delay), crawl.Duration(3*time.Second), 0
	d.Recrawl.Min, d.Recrawl.Max = crawl.Duration(2*time.Hour), crawl.Duration(8*time.Hour)
	d.Budget.Pages, d.Budget.Time = 1_000_000, crawl.Duration(3*time.Hour)
	mine := map[string]bool{}
	for h, s := range r.world.Sites() {
		if group := tree.Group(h); group == worker || group == last {
			mine[s.Host] = true
			d.Scope.Hosts = append(d.Scope.Hosts, s.Host)
			d.Seeds = append(d.Seeds, crawl.Seed{URL: r.world.Host(s.Host).Base + "/"})
		}
	}
	c := chaosCrawl{Definition: d, queue: names.TaskQueue}
	if !d.Spread {
		c.queue = r.workers[worker].queue
	}
	for _, p := range r.world.Pages() {
		if mine[p.Host] {
			c.pages = append(c.pages, p)
		}
	}
	return c
}

// chaosEnd is how long the crawls may take after the last fault: a terminated shard of politeness grants nothing for 15 minutes.
const chaosEnd = 45 * time.Minute

// finish waits for the end of the crawls.
func (r *chaosRig) finish(t *testing.T) {
	t.Helper()
	asked, since, said := 0, time.Now(), time.Now()
	Until(t, chaosEnd, "the crawls end", func() string {
		r.tend(t)
		if r.over(t) {
			return ""
		}
		if n := r.world.Stats().Requests; n != asked {
			asked, since = n, time.Now()
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			t.Logf("%s %d requests, the last %v ago", said.Format("15:04:05"), asked, time.Since(since).Round(time.Second))
		}
		return fmt.Sprintf("the last request came %v ago", time.Since(since).Round(time.Second))
	})
	for i, c := range r.crawls {
		result := Result(t, r.client, c.Name, soon)
		r.crawls[i].totals = result.Totals
		t.Logf("%s: %s, %+v", c.Name, result.Reason, result.Totals)
		if result.Reason != crawl.ReasonDrained {
			t.Errorf("%s ended: %s", c.Name, result.Reason)
		}
	}
}

// check counts at the servers and in the archives, and looks for what is left running.
func (r *chaosRig) check(t *testing.T) {
	t.Helper()
	servedPolitely(t, r.world, r.plan.delay)
	if keep := os.Getenv("MUNINN_CHAOS_KEEP"); keep != "" {
		if err := os.WriteFile(filepath.Join(keep, "trace"), []byte(traces(r.world)), 0o644); err != nil {
			t.Error(err)
		}
	}
	for _, c := range r.crawls {
		store, err := archive.Open(t.Context(), c.Archive.Where, r.s3)
		if err != nil {
			t.Fatal(err)
		}
		if archived := archivedOnce(t, store, c.pages, c.may); c.Spread && c.totals.Pages+c.totals.RequisitesArchived+c.totals.SpeculativeArchived != int64(archived) {
			t.Errorf("%s counts %d pages, %d requisites and %d that are probably some, and its archive has %d", c.Name, c.totals.Pages, c.totals.RequisitesArchived, c.totals.SpeculativeArchived, archived)
		} else if c.Spread && (c.totals.Known < int64(archived) || c.totals.Requisites != c.totals.RequisitesArchived || c.totals.Speculative < c.totals.SpeculativeArchived) {
			t.Errorf("%s knows %d URLs, %d requisites and %d that are probably some; its archive has %d, %d and %d", c.Name, c.totals.Known, c.totals.Requisites, c.totals.Speculative,
				archived, c.totals.RequisitesArchived, c.totals.SpeculativeArchived)
		}
	}
	Until(t, soon, "no workflow of a crawl runs", func() string {
		ids, err := r.running(t, "WorkflowType IN ('Batch', '"+names.FetcherController+"')")
		if err != nil {
			return err.Error()
		}
		return strings.Join(ids, " ")
	})
	for _, w := range r.workers {
		if !w.wanted { // a guest
			Until(t, soon, w.name+" ends after SIGTERM", func() string {
				if w.ended() {
					return ""
				}
				return w.lastWords()
			})
		}
		log, err := os.ReadFile(w.log)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range []string{"panic:", "fatal error:", "SIGBUS"} {
			if at := strings.Index(string(log), fault); at >= 0 {
				t.Errorf("%s: %s", w.name, lines(string(log)[at:min(len(log), at+4000)]))
			}
		}
	}
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/workflows"
)

// compare crawls the same web by crawls that are spread over 1, 2, … workers, or bound to one (0), and prints what a page costs each. Beside each crawl over several workers it has as many rings of one worker crawl a part of the hosts each. All of them share the machine's processors: the ratios count, and pages a second only where the machine has a processor for each.
func compare(ctx context.Context, o options, w *web) error {
	var counts []int
	for _, text := range strings.Split(o.workers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 50 {
			return fmt.Errorf("-workers %s: numbers of workers from 0 (a bound crawl) to 50 are needed, with commas between them", o.workers)
		}
		counts = append(counts, n)
	}
	var all []measured
	printHead()
	one := func(name string, rings []ring) error {
		m, err := crawl(ctx, o, w, name, rings)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, m)
		m.printLine(all)
		if o.histories {
			m.events.print(m.pages, true)
		}
		return nil
	}
	for _, n := range counts {
		if err := one(crawlName(n), oneRing(w, n)); err != nil {
			return err
		}
		if n > 1 && o.alone {
			if err := one(fmt.Sprint(n, " alone"), rings(w, n)); err != nil {
				return err
			}
		}
	}
	printSteps(all)
	return nil
}

func crawlName(workers int) string {
	if workers == 0 {
		return "bound"
	}
	return fmt.Sprint("spread over ", workers)
}

// ringIsWhole is how long the workers may take until each owns its part of the ring.
const ringIsWhole = 2 * time.Minute

// awaitRings waits until all workers are in their ring and every partition has its owner.
func (p processes) awaitRings(ctx context.Context) error {
	for _, one := range p.rings {
		if err := one.await(ctx, p.address); err != nil {
			return err
		}
	}
	return nil
}

func (r ring) await(ctx context.Context, address string) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: r.namespace, Logger: silent{}})
	if err != nil {
		return err
	}
	defer c.Close()
	last := ""
	for begun := time.Now(); time.Since(begun) < ringIsWhole; time.Sleep(100 * time.Millisecond) {
		var status workflows.ClusterStatus
		value, err := c.QueryWorkflow(ctx, names.ClusterID, "", names.QueryStatus)
		if err == nil {
			err = value.Get(&status)
		}
		if err != nil {
			last = err.Error()
			continue
		}
		last = status.String()
		steady := len(status.Workers) == r.workers
		for _, g := range status.Groups {
			steady = steady && g.Owner != "" && g.Loader == ""
		}
		if steady {
			return nil
		}
	}
	return fmt.Errorf("the ring of %d workers is not whole: %s", r.workers, last)
}

// deliver is the activity that takes links in which another worker has found.
const deliver = "Deliver"

// batches counts the batches.
func (e events) batches() int {
	if b := e[names.Batch]; b != nil {
		return b.executions
	}
	return 0
}

// perBatch is how many of something there are for each batch. What the ring has cost is left out: it is there before the crawl.
func (e events) perBatch(count func(*eventCount) int) float64 {
	n := 0
	for name, one := range e {
		if name != names.Cluster {
			n += count(one)
		}
	}
	return mean(n, e.batches())
}

func printHead() {
	fmt.Printf("%-14s %7s %8s  %-24s %-8s  %-38s  %s\n", "crawl", "pages", "pages/s", "CPU of workers, a page", "Temporal", "a batch: URLs, events, signals, deliveries", "peak RSS, MB")
}

// printLine prints what a crawl took. Ratios are to the crawl that is spread over one worker, or to the first.
func (m measured) printLine(all []measured) {
	first := all[max(slices.IndexFunc(all, func(m measured) bool { return m.name == crawlName(1) }), 0)]
	perPage := func(m measured) float64 { return m.crawling.Seconds() * 1000 / float64(max(m.pages, 1)) }
	var urls int
	if b := m.events[names.Batch]; b != nil {
		urls = b.urls
	}
	var rss []string
	for _, name := range m.order {
		if strings.HasPrefix(name, "worker") {
			rss = append(rss, fmt.Sprint(m.rss[name]>>20))
		}
	}
	fmt.Printf("%-14s %7d %8.0f  %6.3f ms (%.2f)          %-8.3f  %6.0f %7.1f %8.3f %10.2f           %s\n", m.name, m.pages, float64(m.pages)/m.wall.Seconds(),
		perPage(m), perPage(m)/perPage(first), m.serving.Seconds()/m.crawling.Seconds(),
		mean(urls, m.events.batches()), m.events.perBatch(func(n *eventCount) int { return n.events }),
		m.events.perBatch(func(n *eventCount) int { return n.kinds["WorkflowExecutionSignaled"] }),
		m.events.perBatch(func(n *eventCount) int { return n.steps[deliver] }), strings.Join(rss, " "))
}

// printSteps prints what each step costs a page, by profile.
func printSteps(all []measured) {
	steps := map[string]float64{}
	for _, m := range all {
		for name, ms := range m.shares {
			steps[name] = max(steps[name], ms)
		}
	}
	if len(steps) == 0 {
		return
	}
	fmt.Println("CPU of workers by step, µs a page, by profile:")
	order := slices.SortedFunc(maps.Keys(steps), func(a, b string) int { return strings.Compare(a, b) })
	for _, name := range order {
		line := fmt.Sprintf("  %-20s", name)
		for _, m := range all {
			total := 0.0
			for _, ms := range m.shares {
				total += ms
			}
			line += fmt.Sprintf(" %8.0f", m.crawling.Seconds()*1e6/float64(max(m.pages, 1))*m.shares[name]/max(total, 1))
		}
		fmt.Println(line)
	}
}

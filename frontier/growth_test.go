//go:build unix

package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// growthBatches is how many batches of growthLinks links BenchmarkGrowth measures of each operation: enough that tables are written and
// merged meanwhile, whose cost belongs to it.
const (
	growthBatches = 100
	growthLinks   = 3000
	growthClaims  = 2000
)

// BenchmarkGrowth lets one frontier grow and says, at each size, what an operation costs in CPU, tables that are written and merged
// meanwhile among it, and what a known URL takes of memory and disk. It is run once: -benchtime 1x. MUNINN_BENCH_KNOWN is the last
// size; the sizes before it are each a tenth of the next, down to 10^5. That one fits into the table in memory: what is merged counts from 10^6 on.
func BenchmarkGrowth(b *testing.B) {
	var sizes []int
	for n := max(benchSize(b), 100_000); n >= 100_000; n /= 10 {
		sizes = append([]int{n}, sizes...)
	}
	r := newRig(b, func(d *crawl.Definition) { d.Budget.Pages, d.Order.PerQueue = 1e9, benchClaim })
	g := growth{rig: r, b: b, empty: heapBytes()}
	for b.Loop() {
		for _, size := range sizes {
			g.measure(size)
		}
	}
	g.print()
}

type growth struct {
	*rig
	b       *testing.B
	empty   int64 // bytes of heap without URLs
	known   int
	batches int
	lines   []string
	before  map[string]float64 // what an operation took at the size before
}

// operations are what is measured, in the order in which they are printed.
var operations = []string{"insert", "reprioritise", "claim", "commit"}

func (g *growth) measure(size int) {
	took := map[string]float64{}
	per := func(name string, n int, do func()) {
		began := cpu(g.b)
		do()
		took[name] = float64((cpu(g.b) - began).Nanoseconds()) / 1000 / float64(n)
	}
	from := g.known
	per("insert", size-from, func() {
		for ; g.known < size; g.known += growthLinks {
			g.offer(benchLinks(g.known, min(growthLinks, size-g.known)))
		}
	})
	g.known = size
	disk := g.disk()
	heap := float64(heapBytes() - g.empty)
	per("reprioritise", growthBatches*growthLinks, func() {
		for i := range growthBatches {
			links := benchLinks(i*791_900%(size-growthLinks), growthLinks)
			for at := range links {
				links[at].Score = 1 - links[at].Score + float64(i)/1e6
			}
			g.offer(links)
		}
	})
	per("claim", growthClaims, func() {
		for range growthClaims {
			round := g.claimOne()
			batch := g.start(round.Claims...)
			g.must(g.Batch(batch).GiveBack(g.clock.Now()))
			g.clock.pass(time.Second)
			g.confirm(g.drainJournal())
		}
	})
	per("commit", growthBatches*benchClaim, func() {
		for i := range growthBatches {
			round := g.claimOne()
			batch := g.start(round.Claims...)
			lanes, err := g.Batch(batch).Reopen(round.Claims, nil)
			g.must(err)
			links := append(benchLinks(i*791_900%(size-growthLinks), growthLinks*9/10), benchLinks(g.known, growthLinks/10)...)
			g.known += growthLinks / 10
			g.finish(batch, lanes, links...)
			g.clock.pass(time.Second)
			g.confirm(round)
		}
	})
	g.line(size, took, heap, disk)
}

// offer queues links, or scores them again.
func (g *growth) offer(links []crawl.Discovery) {
	g.batches++
	g.submit(fmt.Sprint("growth", g.batches), links...)
}

func (g *growth) claimOne() Round {
	w := g.want()
	w.Claims = 1
	round, err := g.Claim(g.b.Context(), w)
	g.must(err)
	if len(round.Claims) != 1 {
		g.b.Fatalf("%+v", round)
	}
	return round
}

// disk is what the frontier takes on disk once it is compacted.
func (g *growth) disk() int64 {
	g.must(g.Close())
	g.open()
	g.must(g.store.Compact())
	g.must(g.Close())
	size := diskBytes(g.b, g.dir)
	g.open()
	return size
}

func (g *growth) line(size int, took map[string]float64, heap float64, disk int64) {
	if g.before == nil {
		g.before = took
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%11d", size)
	for _, op := range operations {
		fmt.Fprintf(&line, "  %10.1f (%.2f)", took[op], took[op]/g.before[op])
		g.b.ReportMetric(took[op]/g.before[op], op+"-ratio") // of the last size
	}
	fmt.Fprintf(&line, "  %9.1f  %9.1f", heap/float64(size), float64(disk)/float64(size))
	g.lines, g.before = append(g.lines, line.String()), took
}

func (g *growth) print() {
	head := fmt.Sprintf("%11s", "known URLs")
	for _, op := range operations {
		head += fmt.Sprintf("  %17s", op)
	}
	fmt.Printf("\nCPU µs: an inserted link, a link whose score changes, a claim of %d URLs, a page of a batch with %d links (ratio to the size before)\n%s  %9s  %9s\n%s\n",
		benchClaim, growthLinks/benchClaim, head, "heap B", "disk B", strings.Join(g.lines, "\n"))
}

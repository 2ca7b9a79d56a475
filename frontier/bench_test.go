//go:build unix

package frontier

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// benchPLDs is the number of queues that have the known URLs of a bench.
const benchPLDs = 1000

// benchClaim is how many URLs a claim of a bench takes, independent of the default of crawls.
const benchClaim = 50

// benchURL is the ith URL: of ordinary length, with the look of a path.
func benchURL(i int) string {
	return fmt.Sprintf("http://www.host%d.example/section-%d/article-%d.html", i%benchPLDs, i%17, i)
}

// benchLinks are links of which one in twenty comes from another host, as on WebKB (4 % from another PLD, 11 % from another host).
func benchLinks(from, n int) (list []crawl.Discovery) {
	for i := from; i < from+n; i++ {
		via := benchURL(i % benchPLDs)
		if i%20 == 0 {
			via = benchURL(i / 56)
		}
		list = append(list, crawl.Discovery{URL: benchURL(i), Via: via, Path: "SLL", Score: float64(i*7919%1000) / 1000})
	}
	return list
}

// benchRig fills a frontier. 10^6 URLs take a minute and are asked for with MUNINN_BENCH_KNOWN=1000000.
func benchRig(b *testing.B) (r *rig, n int) {
	b.Helper()
	r, n = newRig(b, func(d *crawl.Definition) { d.Budget.Pages, d.Order.PerQueue = 1e9, benchClaim }), benchSize(b)
	for from := 0; from < n; from += 5000 {
		r.submit(fmt.Sprint("fill", from), benchLinks(from, 5000)...)
	}
	return r, n
}

// benchSize is 100,000, or what MUNINN_BENCH_KNOWN says.
func benchSize(b *testing.B) int {
	b.Helper()
	v := os.Getenv("MUNINN_BENCH_KNOWN")
	if v == "" {
		return 100_000
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// cpu is the CPU time that the process has used; wall time is mostly that of the disk.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOffer offers 3,000 different outlinks a batch, of which nine in ten are known: the time is
// that of a durable commit, the CPU of an offered link is its own figure.
func BenchmarkOffer(b *testing.B) {
	r, n := benchRig(b)
	benchOffer(b, r, n, n)
}

// BenchmarkOfferAgain is BenchmarkOffer with links to 20,000 URLs alone, as pages of 500 hosts repeat them.
func BenchmarkOfferAgain(b *testing.B) {
	r, n := benchRig(b)
	benchOffer(b, r, n, 20_000)
}

// benchOffer offers links to the first of n URLs.
func benchOffer(b *testing.B, r *rig, n, first int) {
	const batch = 3000
	fresh := n
	began := cpu(b)
	for i := 0; b.Loop(); i++ {
		links := append(benchLinks(i*7919%(first-batch), batch*9/10), benchLinks(fresh, batch/10)...)
		fresh += batch / 10
		r.submit(fmt.Sprint("bench", i), links...)
	}
	b.ReportMetric(float64((cpu(b)-began).Nanoseconds())/float64(b.N)/batch/1000, "cpu-µs/link")
}

// BenchmarkClaim claims benchClaim URLs of one queue and gives them back: claim, and durable writes of both.
func BenchmarkClaim(b *testing.B) {
	r, _ := benchRig(b)
	var claiming time.Duration
	for i := 0; b.Loop(); i++ {
		w := r.want()
		w.Claims = 1
		began := cpu(b)
		round, err := r.Claim(b.Context(), w)
		claiming += cpu(b) - began
		r.must(err)
		if len(round.Claims) != 1 || len(round.Claims[0].URLs) != benchClaim {
			b.Fatalf("%+v", round)
		}
		batch := r.start(round.Claims...)
		r.must(r.Batch(batch).GiveBack(r.clock.Now()))
		r.confirm(r.drainJournal())
	}
	b.ReportMetric(float64(claiming.Microseconds())/float64(b.N), "cpu-µs/claim")
}

// drainJournal returns the releases without claiming.
func (r *rig) drainJournal() Round {
	w := r.want()
	w.Claims = 0
	round, err := r.Claim(r.t.Context(), w)
	r.must(err)
	return round
}

// BenchmarkBatch is a whole batch: claim 50 URLs, commit 50 outcomes and 3,000 outlinks, nine in ten known.
func BenchmarkBatch(b *testing.B) {
	r, n := benchRig(b)
	fresh := n
	began := cpu(b)
	for i := 0; b.Loop(); i++ {
		w := r.want()
		w.Claims = 1
		round, err := r.Claim(b.Context(), w)
		r.must(err)
		batch := r.start(round.Claims...)
		lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
		r.must(err)
		r.finish(batch, lanes, append(benchLinks(i*7919%(n-3000), 2700), benchLinks(fresh, 300)...)...)
		fresh += 300
		r.confirm(round)
	}
	b.ReportMetric(float64((cpu(b)-began).Microseconds())/float64(b.N)/benchClaim, "cpu-µs/page")
}

// BenchmarkOpen opens a frontier and reports what a known URL takes on disk, as the writes left it and
// once it is compacted.
func BenchmarkOpen(b *testing.B) {
	r, n := benchRig(b)
	r.must(r.Close())
	r.open()
	r.must(r.store.Compact())
	r.must(r.Close())
	size := diskBytes(b, r.dir)
	for b.Loop() {
		r.open()
		r.must(r.Close())
	}
	b.ReportMetric(float64(size)/float64(n), "bytes/URL")
	r.open()
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// diskBytes is the size of a folder on disk. Logs are mapped at full length and are mostly holes: the key
// tables are what counts.
func diskBytes(b *testing.B, dir string) (size int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sst" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}

// BenchmarkManyHosts reports the memory of a crawl that has met many hosts, each with one page and no waiting URL, and the cost of a
// claim: with all queues in memory, and with only the queues that are kept.
func BenchmarkManyHosts(b *testing.B) {
	r, n := newRig(b, func(d *crawl.Definition) { d.Budget.Pages = 1e9 }), benchSize(b)
	const part = 5000
	for from := 0; from < n; from += part {
		var links []crawl.Discovery
		var outcomes []crawl.PageOutcome
		for i := from; i < from+part; i++ {
			url := fmt.Sprintf("http://host%d.example/", i)
			links, outcomes = append(links, found(0.5, url)...), append(outcomes, done(url))
		}
		r.submit(fmt.Sprint("fill", from), links...)
		r.must(r.Commit(Commit{Batch: fmt.Sprint("done", from), Outcomes: outcomes}))
	}
	for _, idle := range []int{math.MaxInt, DefaultIdle} {
		b.Run(fmt.Sprint("idle=", idle), func(b *testing.B) {
			r.keepIdle(idle)
			full := heapBytes()
			r.crawls[testCrawl].clear()
			taken := full - heapBytes()
			r.keepIdle(idle)
			var claiming time.Duration
			for i := 0; b.Loop(); i++ {
				url := fmt.Sprintf("http://host%d.example/%d-%d-%d", i*7919%n, idle, b.N, i)
				r.submit(url, found(0.5, url)...)
				began := cpu(b)
				c := r.one()
				claiming += cpu(b) - began
				batch := r.start(c)
				r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done(url)}}))
				r.confirm(r.drainJournal())
			}
			b.ReportMetric(float64(claiming.Microseconds())/float64(b.N), "cpu-µs/claim")
			b.ReportMetric(float64(taken)/float64(n), "heap-bytes/host")
		})
	}
}

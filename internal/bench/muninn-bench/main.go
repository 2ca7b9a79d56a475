// muninn-bench measures a whole crawl on a synthetic web, process by process, and GNU wget with WARC
// on the same web in the same run: CPU seconds per 1,000 distinct pages, the ratios of worker to wget and of Temporal to worker, the
// share of each step, and the events in Temporal's histories. With -workers it compares crawls that are spread over several workers
// with one that is not. Wall times and absolute figures belong to the machine; ratios and events travel.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/muninn-archive/muninn/internal/archivecheck"
)

type options struct {
	bin    string
	dir    string
	hosts  int
	shared int
	pages  int
	store  string
	wget   bool
	listen string
	worker string

	workers string
	alone   bool
	flight  int

	latency   time.Duration
	pause     time.Duration
	profile   bool
	histories bool
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder of muninn, muninn-worker, temporal and versitygw")
	flag.StringVar(&o.dir, "dir", "", "working folder (default: a temporary one, removed in the end)")
	flag.IntVar(&o.hosts, "hosts", 500, "hosts of the web")
	flag.IntVar(&o.pages, "pages", 40, "pages of a host")
	flag.IntVar(&o.shared, "shared", 0, "addresses that two of three hosts share; 0: each host has its own")
	flag.StringVar(&o.store, "store", "dir", "dir, or s3 for a versitygw process")
	flag.BoolVar(&o.wget, "wget", true, "run GNU wget beside it")
	flag.StringVar(&o.listen, "listen", "", "address of the worker's metrics and profiles (default: a free port)")
	flag.StringVar(&o.worker, "worker", "", "further settings of the worker, as flags")
	flag.StringVar(&o.workers, "workers", "", "in place of all that, compare crawls that are spread over so many workers, such as 0,1,2,4; 0 is a bound crawl")
	flag.BoolVar(&o.alone, "alone", true, "with -workers, beside each crawl over several workers: as many workers that have nothing to do with each other, each of which crawls its part of the hosts. What a page costs more there, the machine takes (caches, memory), and not the ring")
	flag.IntVar(&o.flight, "flight", 0, "in place of all that, have one worker carry so many batches at a time, of a web that answers slowly")
	flag.DurationVar(&o.pause, "pause", 0, "politeness.min_delay of the crawl; GNU wget makes none")
	flag.BoolVar(&o.profile, "profile", true, "profile the worker, for the share of each step; costs it some 1 %")
	flag.BoolVar(&o.histories, "histories", false, "print the events of each kind in Temporal's histories")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "muninn-bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "muninn-bench-*")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.dir = dir
	}
	if o.flight > 0 {
		return flight(ctx, o)
	}
	web, err := serveWeb(ctx, o)
	if err != nil {
		return err
	}
	defer web.stop()
	fmt.Printf("web: %d hosts x %d pages, a pause of %s between two requests to a host, %d addresses that two of three hosts share\n", o.hosts, o.pages, o.pause, o.shared)
	if o.workers != "" {
		return compare(ctx, o, web)
	}
	ours, err := crawl(ctx, o, web, "muninn", oneRing(web, 0))
	if err != nil {
		return err
	}
	ours.print()
	ours.events.print(ours.pages, o.histories)
	printCalls(ours)
	if ours.shares != nil {
		printShares(ours.shares)
	}
	fmt.Printf("ratio of CPU, Temporal / worker: %.2f\n", ours.cpu["temporal server"].Seconds()/ours.cpu["worker"].Seconds())
	if !o.wget {
		return nil
	}
	theirs, err := wget(ctx, o, web)
	if err != nil {
		return err
	}
	theirs.print()
	fmt.Printf("ratio of CPU per page, worker / wget: %.2f\n", ours.perThousand(ours.cpu["worker"])/theirs.perThousand(theirs.cpu["wget"]))
	return nil
}

// measured is what a crawler used.
type measured struct {
	name  string
	pages int
	cpu   map[string]time.Duration // by process
	order []string
	rss   map[string]int64 // peak, bytes
	wall  time.Duration
	note  string

	crawling time.Duration // CPU of all workers while the crawl ran
	serving  time.Duration // CPU of the Temporal server while the crawl ran

	idle   time.Duration      // CPU of the Temporal server a second before the crawl, with a worker that waits
	start  time.Duration      // CPU of the Temporal server before the crawl
	calls  map[string]int     // of the worker to the Temporal server, by operation
	events events             // of the crawl's workflows
	shares map[string]float64 // of the worker's CPU time, by step
}

func (m measured) perThousand(cpu time.Duration) float64 {
	return cpu.Seconds() / float64(max(m.pages, 1)) * 1000
}

func (m measured) print() {
	fmt.Printf("%s: %d distinct pages in %.1f s %s\n", m.name, m.pages, m.wall.Seconds(), m.note)
	for _, name := range m.order {
		fmt.Printf("  %-16s %7.2f CPU s   %6.3f CPU s / 1,000 pages   peak %4d MB\n",
			name, m.cpu[name].Seconds(), m.perThousand(m.cpu[name]), m.rss[name]>>20)
	}
}

// web is the synthetic web's process.
type web struct {
	*process
	Seeds   []string          `json:"seeds"`
	Topic   []string          `json:"topic"`
	Port    int               `json:"port"`
	Resolve map[string]string `json:"resolve"`
}

func serveWeb(ctx context.Context, o options) (*web, error) {
	bin := filepath.Join(o.dir, "webworld-serve")
	if err := command(ctx, "go", "build", "-o", bin, "./internal/webworld/webworld-serve"); err != nil {
		return nil, err
	}
	p, line, err := startLine(ctx, bin, "-kind", "bench", "-hosts", fmt.Sprint(o.hosts), "-pages", fmt.Sprint(o.pages), "-shared", fmt.Sprint(o.shared), "-latency", o.latency.String())
	if err != nil {
		return nil, err
	}
	w := &web{process: p}
	return w, json.Unmarshal([]byte(line), w)
}

// archived counts the distinct pages of an archive folder.
func archived(dir string) (int, error) {
	report, err := archivecheck.CheckDir(dir)
	if err != nil {
		return 0, err
	}
	if len(report.Faults) > 0 {
		return 0, fmt.Errorf("the archive has %d faults, the first: %s", len(report.Faults), report.Faults[0])
	}
	return len(report.Pages), nil
}

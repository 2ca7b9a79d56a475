package economy

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	world "github.com/muninn-archive/muninn/internal/webworld/economy"
	"github.com/muninn-archive/muninn/kb"
)

const (
	// Goal is the share of a site's objects that a crawl must reach.
	Goal = 0.98
	// Saving is how many times fewer requests the strict helper must need for it.
	Saving = 5
	// Budget is how many requests a crawl of a site may make, unless another number is asked for.
	Budget = 60_000
)

// Modes are the modes that are compared, in the order of the table.
var Modes = []string{crawl.HelperOff, crawl.HelperLenient, crawl.HelperStrict}

// Options choose what is measured. The zero value is all sites with their usual number of objects.
type Options struct {
	Seed    uint64
	Objects int      // a site
	Budget  int      // requests a site and mode
	Only    []string // applications; empty: all
	Modes   []string // empty: all
}

// Measure crawls each site in each mode; as many crawls run at a time as there are processors.
func Measure(ctx context.Context, base *kb.Base, o Options) (Result, error) {
	o.Objects, o.Budget = cmp.Or(o.Objects, world.Objects), cmp.Or(o.Budget, Budget)
	if len(o.Modes) == 0 {
		o.Modes = Modes
	}
	type job struct {
		site *world.Site
		mode string
	}
	var jobs []job
	for _, mode := range o.Modes { // the long ones first; each has sites of its own, for responses are counted
		sites, err := world.Sites(webworld.Options{Seed: o.Seed}, o.Objects)
		if err != nil {
			return Result{}, err
		}
		for _, s := range sites {
			if len(o.Only) == 0 || slices.Contains(o.Only, s.Application) {
				jobs = append(jobs, job{s, mode})
			}
		}
	}
	if len(jobs) == 0 {
		return Result{}, fmt.Errorf("no site runs any of %q", o.Only)
	}
	runs, errs := make([]Run, len(jobs)), make([]error, len(jobs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(len(jobs), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				runs[i], errs[i] = simulate(ctx, base, jobs[i].site, jobs[i].mode, o.Budget)
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return Result{}, err
		}
	}
	var rows []Run // by site
	for at, n := 0, len(jobs)/len(o.Modes); at < n; at++ {
		for m := range o.Modes {
			rows = append(rows, runs[m*n+at])
		}
	}
	return sum(base.ID, o, rows), nil
}

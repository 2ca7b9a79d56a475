package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestPartitionsBesideOthers: what this worker or the archive has of one crawl does not keep the partitions of the others from being made.
func TestPartitionsBesideOthers(t *testing.T) {
	damaged := archive.Frontiers{}.SpreadCrawl("c", "v", nil)
	alone := archive.Frontiers{}.SpreadCrawl("d", "v", nil)
	for name, test := range map[string]struct {
		before func(d crawl.Definition, w *worker, f *frontier.Frontier) error
		err    string
	}{
		"a bound crawl here has the name of a spread one": {before: func(d crawl.Definition, w *worker, f *frontier.Frontier) error {
			d.Name = "d"
			bound := d
			bound.Spread = false
			_, err := f.Begin("d", "owner", 1, bound, nil, false)
			return errors.Join(err, KeepBegun(t.Context(), w.store, "w", Begun{Definition: d, Run: 1}))
		}},
		"a bound crawl here has the name of one in the checkpoint": {before: func(d crawl.Definition, w *worker, f *frontier.Frontier) error {
			d.Name = "d"
			bound := d
			bound.Spread = false
			_, err := f.Begin("d", "owner", 1, bound, nil, false)
			_, errElsewhere := w.Begin("d", "owner", 1, d, nil, false)
			err = errors.Join(err, errElsewhere, w.Crawl("d").URLs().Offer("x", []crawl.Discovery{{URL: "http://a.example/d", Score: 1, Path: "S"}}))
			w.checkpointAll()
			return err
		}},
		"one worker's word of a crawl is damaged": {before: func(_ crawl.Definition, w *worker, _ *frontier.Frontier) error {
			return w.store.Put(t.Context(), damaged, strings.NewReader("{"), 1)
		}},
		"the only word of a crawl is damaged": {err: alone, before: func(_ crawl.Definition, w *worker, _ *frontier.Frontier) error {
			return w.store.Put(t.Context(), alone, strings.NewReader("{"), 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSpreadWorker(t, 9)
			for range 5 {
				w.run(true)
			}
			plan, err := w.Crawl("c").Plan()
			must(t, err)
			f := opened(t, t.TempDir())
			must(t, test.before(plan.Definition, w, f))
			err = partitionsOf(f, w.store).Run(t.Context(), every(0, 1))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v; it does not name %s", err, test.err)
				}
				return
			}
			must(t, err)
			sameKnowledge(t, together(t, w.Frontier), together(t, f))
		})
	}
}

// TestPartitionsAfterLostRun: a worker that was lost when a run ended comes back in the next run. Its own run is over, partitions are made for the
// next one, which it begins.
func TestPartitionsAfterLostRun(t *testing.T) {
	w := newSpreadWorker(t, 9)
	plan, err := w.Crawl("c").Plan()
	must(t, err)
	f := opened(t, t.TempDir())
	_, err = f.Begin("c", "owner", 1, plan.Definition, nil, false)
	must(t, err)
	must(t, w.Crawl("c").End("owner"))
	_, err = w.Begin("c", "next", 2, plan.Definition, nil, false)
	must(t, err)
	must(t, w.Crawl("c").URLs().Offer("seeds-2", []crawl.Discovery{{URL: "http://a.example/", Score: 1, Path: "S"}}))
	must(t, KeepBegun(t.Context(), w.store, "w", Begun{Definition: plan.Definition, Run: 2, Archives: plan.Archives}))
	must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
	now, err := f.Crawl("c").Plan()
	if must(t, err); now.Run != 2 || now.Active {
		t.Errorf("run %d, in progress: %t; want run 2, which has not begun here", now.Run, now.Active)
	}
	run, err := f.Begin("c", "next", 2, plan.Definition, nil, false)
	if must(t, err); run != 2 {
		t.Errorf("begins run %d", run)
	}
	if now, err = f.Crawl("c").Plan(); err != nil || !now.Active {
		t.Errorf("run 2 is not in progress: %v", err)
	}
	sameKnowledge(t, together(t, w.Frontier), together(t, f))
}

// beginSecond begins the second run of a crawl at a frontier.
func beginSecond(t *testing.T, f *frontier.Frontier, plan frontier.Plan) {
	t.Helper()
	_, err := f.Begin("c", "next", 2, plan.Definition, nil, false)
	must(t, err)
	_, _, err = f.Crawl("c").UseArchive(plan.Archives[0])
	must(t, err)
	must(t, f.Crawl("c").URLs().Recrawl("recrawl-2"))
	must(t, f.Crawl("c").URLs().Offer("seeds-2", []crawl.Discovery{{URL: "http://a.example/", Score: 1, Path: "S"}}))
}

// TestPartitionsOfEarlierRun: partitions whose checkpoint is of the run before, made by a worker that has begun the present one, have what the present
// run is to crawl: the seeds, all pages of the run before, before and after the checkpoint; and what it has crawled already is crawled once. Where manifests
// name their runs, clocks do not matter: that of the second run is an hour behind.
func TestPartitionsOfEarlierRun(t *testing.T) {
	for _, test := range []struct {
		again int // batches of the second run
		named bool
	}{{0, false}, {8, false}, {8, true}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			w := newSpreadWorker(t, 9)
			if test.named {
				w.inRun = 1
			}
			for i := range 16 {
				if w.run(true); i == 7 {
					w.checkpointAll()
				}
			}
			plan, err := w.Crawl("c").Plan()
			must(t, err)
			if len(w.known) < 30 {
				t.Fatalf("the first run has found %d URLs", len(w.known))
			}
			must(t, w.Crawl("c").End("owner"))
			beginSecond(t, w.Frontier, plan)
			w.now = w.now.Add(time.Second)
			for i, worker := range []string{"v", "w"} { // v began later
				b := Begun{Definition: plan.Definition, Run: 2, Archives: plan.Archives, Started: w.now.Add(time.Duration(1-i) * time.Hour)}
				must(t, KeepBegun(t.Context(), w.store, worker, b))
			}
			w.waiting = slices.Sorted(maps.Keys(w.known))
			if test.named {
				w.inRun, w.now = 2, w.now.Add(-time.Hour)
			}
			for range test.again {
				w.run(true)
			}
			f := opened(t, t.TempDir())
			beginSecond(t, f, plan)
			must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
			sameKnowledge(t, statesOf(together(t, w.Frontier)), statesOf(together(t, f)))
			must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
			sameKnowledge(t, statesOf(together(t, w.Frontier)), statesOf(together(t, f)))
		})
	}
}

// TestPartitionsOfEarlierRunWithRecrawl: where pages have intervals, partitions that are made in the second run have what it asks for as well: it is due,
// whether the outcome of the first run is of a checkpoint or of a segment, and whether the worker has begun the run or begins it later.
func TestPartitionsOfEarlierRunWithRecrawl(t *testing.T) {
	const day = 24 * time.Hour
	for _, begunBefore := range []bool{true, false} {
		t.Run(fmt.Sprint("begun before: ", begunBefore), func(t *testing.T) {
			now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
			open := func() *frontier.Frontier {
				f, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true, Now: func() time.Time { return now }})
				must(t, err)
				t.Cleanup(func() { _ = f.Close() })
				return f
			}
			w := newSpreadWorkerOf(t, 9, open(), crawl.Recrawl{Min: crawl.Duration(day), Max: crawl.Duration(4 * day)})
			w.inRun = 1
			for i := range 16 {
				if w.run(true); i == 7 {
					w.checkpointAll()
				}
			}
			plan, err := w.Crawl("c").Plan()
			must(t, err)
			must(t, w.Crawl("c").End("owner"))
			now = now.Add(day)
			beginSecond(t, w.Frontier, plan)
			must(t, KeepBegun(t.Context(), w.store, "w", Begun{Definition: plan.Definition, Run: 2, Archives: plan.Archives, Started: now}))
			w.waiting, w.inRun = slices.Sorted(maps.Keys(w.known)), 2
			for range 8 {
				w.run(true)
			}
			f := open()
			if begunBefore {
				beginSecond(t, f, plan)
			}
			must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
			if !begunBefore {
				beginSecond(t, f, plan)
			}
			sameKnowledge(t, statesOf(together(t, w.Frontier)), statesOf(together(t, f)))
		})
	}
}

// statesOf leaves of what is known of URLs their states, and the runs of those that are crawled: how often a link was found, a recrawl counts as well.
func statesOf(known map[string]string) map[string]string {
	for url, what := range known {
		state, run := stateIn.FindStringSubmatch(what)[1], runIn.FindStringSubmatch(what)[1]
		if state == "waiting" {
			run = ""
		}
		known[url] = state + " " + run
	}
	return known
}

var (
	stateIn = regexp.MustCompile(`State:(\w+)`)
	runIn   = regexp.MustCompile(`Run:(\d+)`)
)

// listing counts the objects that are listed.
type listing struct {
	archive.Store
	listed int
}

func (s *listing) List(ctx context.Context, prefix string, fn func(archive.Object) error) error {
	return s.Store.List(ctx, prefix, func(o archive.Object) error {
		s.listed++
		return fn(o)
	})
}

// TestKeepBegun: what a worker keeps of a crawl is in place of what it has kept before, and is forgotten with what others have kept; what there is of other
// crawls is not even listed.
func TestKeepBegun(t *testing.T) {
	store := &listing{Store: newRig(t).store}
	keep := func(name, worker string, run uint32) {
		d := crawl.DefaultDefinition()
		d.Name = name
		must(t, KeepBegun(t.Context(), store, worker, Begun{Definition: d, Run: run}))
	}
	for i := range 9 {
		keep(fmt.Sprint("other-", i), "w", 1)
		keep("c.d", fmt.Sprint("w", i), 1)
	}
	store.listed = 0
	keep("c", "w", 1)
	keep("c", "w", 2)
	keep("c", "v", 2)
	keep("c", "v", 2)
	if store.listed != 2 { // the former object of each
		t.Errorf("%d objects are listed", store.listed)
	}
	count := func() int {
		keys, err := keysOf(t.Context(), store.Store, archive.Frontiers{}.SpreadCrawls())
		must(t, err)
		return len(keys)
	}
	if n := count(); n != 9+9+2 {
		t.Errorf("%d objects are kept", n)
	}
	must(t, ForgetBegun(t.Context(), store, "c"))
	if n := count(); n != 9+9 || store.listed != 2+2 {
		t.Errorf("%d objects are left; %d were listed", n, store.listed)
	}
}

// replacing calls do before the first object is read.
type replacing struct {
	archive.Store
	do func()
}

func (s *replacing) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return s.Store.Get(ctx, key)
}

// TestLastBegun: of what workers have kept of a crawl the last run counts, whether one of them has ended it, also if a worker keeps the end while it is read. Damaged objects
// and those of other crawls do not count.
func TestLastBegun(t *testing.T) {
	store := newRig(t).store
	keep := func(name, worker string, run uint32, ended bool) {
		d := crawl.DefaultDefinition()
		d.Name = name
		must(t, KeepBegun(t.Context(), store, worker, Begun{Definition: d, Run: run, Ended: ended}))
	}
	expect := func(when string, store archive.Store, want uint32, wantEnded bool) {
		t.Helper()
		if run, ended, err := LastBegun(t.Context(), store, "c"); run != want || ended != wantEnded || err != nil {
			t.Errorf("%s: run %d, ended: %t, %v", when, run, ended, err)
		}
	}
	expect("none is kept", store, 0, false)
	keep("c", "u", 2, true)
	keep("c", "v", 3, false)
	keep("c", "w", 3, false)
	keep("c.d", "w", 7, true)
	must(t, store.Put(t.Context(), archive.Frontiers{}.SpreadCrawl("c", "x", nil), strings.NewReader("{"), 1))
	expect("an earlier run has ended", store, 3, false)
	expect("v ends it meanwhile", &replacing{store, func() { keep("c", "v", 3, true) }}, 3, true)
	keep("c", "w", 3, false)
	expect("v has ended it", store, 3, true)
	expect("it is forgotten meanwhile", &replacing{store, func() { must(t, ForgetBegun(t.Context(), store, "c")) }}, 0, false)
}

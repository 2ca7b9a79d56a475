package checkpoint

import (
	"errors"
	"strings"
	"testing"

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
		"one worker's word of a crawl is damaged": {before: func(_ crawl.Definition, w *worker, _ *frontier.Frontier) error {
			return w.store.Put(t.Context(), damaged, strings.NewReader("{"), 1)
		}},
		"the only word of a crawl is damaged": {err: alone, before: func(_ crawl.Definition, w *worker, _ *frontier.Frontier) error {
			return w.store.Put(t.Context(), alone, strings.NewReader("{"), 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSpreadWorker(t, 5)
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
	w := newSpreadWorker(t, 5)
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

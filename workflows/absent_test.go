package workflows

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestSpreadCrawlAbsent: what a worker had archived is taken in, terminated and counted, whether or not it was a member of this execution of the crawl
// when the ring gave it up: it was lost when the execution began, or was given up before, or has another folder by now.
func TestSpreadCrawlAbsent(t *testing.T) {
	for _, c := range []struct {
		name   string
		absent []activities.Holder // that have open batches
		before func(r *spreadRing)
		lost   string // the worker that is given up
	}{
		{name: "lost when the crawl begins", lost: "w2", before: func(r *spreadRing) {
			r.lose("w2")
			r.at(45*time.Second, func() { r.drop("w2") })
		}},
		{name: "given up before the crawl begins", lost: "w9", absent: []activities.Holder{{Worker: "w9", Instance: "i-w9"}}, before: func(r *spreadRing) {
			r.lost["w9"] = &spreadWorker{}
		}},
		{name: "it has another folder", lost: "w2", absent: []activities.Holder{{Worker: "w2", Instance: "former"}}, before: func(r *spreadRing) {
			r.lost["w2"] = &spreadWorker{}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newSpread(t, 150, 150)
			c.before(r)
			r.absent, r.lost[c.lost].used = c.absent, 7
			r.started = r.Now().Add(-time.Hour) // the run is continued
			if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
				t.Fatal(err)
			}
			out := crawlResult(t, r.env)
			if r.count("Retire "+c.lost) != 1 || r.count("LostTotals "+c.lost) != 1 || out.Reason != crawl.ReasonDrained || out.Totals.Pages != 7+int64(len(r.workers)) {
				t.Errorf("retired %d times, counted %d times, %+v", r.count("Retire "+c.lost), r.count("LostTotals "+c.lost), out)
			}
			if r.used() != 300 {
				t.Errorf("%d are fetched", r.used())
			}
			calls := r.called()
			claims := slices.IndexFunc(calls, func(call string) bool { return strings.HasPrefix(call, "claim "+c.lost) })
			if c.absent != nil && c.absent[0].Instance == "former" && (claims < 0 || claims > slices.Index(calls, "LostTotals "+c.lost)) {
				t.Errorf("the new folder of %s waits until the former one is retired", c.lost)
			}
		})
	}
}

// TestSpreadCrawlFormer: a crawl that is continued counts what folders have archived that an earlier execution had given up and counted: in its totals, and in
// its budgets, of which it uses no more than what they have left. A folder that is here does not count so.
func TestSpreadCrawlFormer(t *testing.T) {
	r := newSpread(t, 400, 400)
	done := func(worker, instance string, pages int64) activities.FormerTotals {
		return activities.FormerTotals{Holder: activities.Holder{Worker: worker, Instance: instance}, Totals: frontier.Totals{Pages: pages, Requests: pages, Requisites: 70}}
	}
	r.former = []activities.FormerTotals{done("w9", "i-w9", 100), done("w2", "i-former", 50), done("w1", "i-w1", 7000)}
	r.started = r.Now().Add(-time.Hour)
	if err := r.run(Crawl, spreadCrawl(300), nil); err != nil {
		t.Fatal(err)
	}
	out := crawlResult(t, r.env)
	if r.used() > 150+2*spreadBatch || r.used() < 150 || out.Totals.Pages != 150+2 || out.Totals.Requisites != 0 || out.Reason != crawl.ReasonPages || r.count("FormerTotals, not of 2") != 1 {
		t.Errorf("%d are fetched; %+v", r.used(), out)
	}
	if r.count("Retire w9")+r.count("Retire w2") > 0 {
		t.Error("what was retired is retired again")
	}

	r = newSpread(t, 20)
	if err := r.run(Crawl, spreadCrawl(300), nil); err != nil {
		t.Fatal(err)
	}
	if r.count("FormerTotals, not of 1") > 0 {
		t.Error("a run that begins counts what others have archived in it")
	}
}

package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// changed is what an update of the definition answers.
type changed struct {
	submitted
	at   time.Time
	late []string
	then func() // when it is answered
}

func (r *spreadRing) change(after time.Duration, fields string) *changed {
	u := &changed{}
	r.at(after, func() { r.UpdateWorkflow(names.UpdateConfig, "", &answered{u, r}, json.RawMessage(fields)) })
	return u
}

// answered notes when an update is answered.
type answered struct {
	*changed
	r *spreadRing
}

func (a *answered) Complete(result any, err error) {
	a.submitted.Complete(result, err)
	a.at = a.r.Now()
	if a.then != nil {
		a.then()
	}
	if out, is := result.(Configured); is {
		a.late = out.Late
	}
}

// TestSpreadConfigureWithALostWorker: a change does not wait for a worker that the ring has lost: the answer names it. It gets the change when it is
// back, and claims nothing before.
func TestSpreadConfigureWithALostWorker(t *testing.T) {
	r := newSpread(t, 150, 150, 150)
	r.at(12*time.Second, func() { r.lose("w2") })
	u := r.change(40*time.Second, `{"budget":{"pages":5000}}`)
	start := r.Now()
	r.at(100*time.Second, func() { r.back("w2") })
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if u.failed != nil || u.rejected != nil || strings.Join(u.late, " ") != "w2" || u.at.Sub(start) > 41*time.Second {
		t.Errorf("answered after %v: %+v", u.at.Sub(start), u)
	}
	if calls := r.called(); slices.Contains(calls[slices.Index(calls, "w2 is back"):], "w2 claims by 1000") {
		t.Errorf("w2 claims by the former definition when it is back: %v", calls)
	}
	if r.count("w2 claims by 5000") == 0 || r.used() != 450 {
		t.Errorf("%d are fetched: %v", r.used(), r.called())
	}
}

// TestSpreadConfigureWhileBeginning: a worker refuses a change while the crawl waits for others to begin. The change is taken back, and the crawl begins.
func TestSpreadConfigureWhileBeginning(t *testing.T) {
	r := newSpread(t, 150, 150)
	r.workers[0].refuses = 666
	r.unbegun = r.workers[1].Instance
	u := r.change(11*time.Second, `{"budget":{"pages":666}}`) // the ring is known after ten seconds
	r.at(time.Minute, func() { r.drop(r.workers[1].Worker) })
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if u.failed == nil || !strings.Contains(u.failed.Error(), "it has no such file") || r.used() != 300 {
		t.Errorf("%v; %d are fetched", u.failed, r.used())
	}
}

// TestSpreadAbortWhileBeginning: a crawl is aborted before any worker has begun the run, of which batches may be in progress. Those that begin it abort them.
func TestSpreadAbortWhileBeginning(t *testing.T) {
	r := newSpread(t, 150, 150)
	r.beginsAt = r.Now().Add(time.Minute)
	r.at(30*time.Second, func() { r.SignalWorkflow(names.SignalAbort, nil) })
	acts(r.env, "Abort", func(string) error { return nil })
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if out := crawlResult(t, r.env); r.count("Abort") != 2 {
		t.Errorf("%d workers abort their batches, %+v", r.count("Abort"), out)
	}
}

// TestSpreadConfigureRefused: what one worker refuses, or each of them, none has; one that was lost meanwhile ends with the former definition, too. The crawl
// continues by that.
func TestSpreadConfigureRefused(t *testing.T) {
	for _, refusing := range [][]string{{"w3"}, {"w1", "w3"}, {"w1", "w2", "w3"}} {
		r := newSpread(t, 150, 150, 150)
		for _, name := range refusing {
			r.of(name).refuses = 5000
		}
		if !slices.Contains(refusing, "w2") {
			r.at(12*time.Second, func() { r.lose("w2") })
			r.at(100*time.Second, func() { r.back("w2") })
		}
		u := r.change(40*time.Second, `{"budget":{"pages":5000}}`)
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatalf("%s refuse: %v", refusing, err)
		}
		if u.failed == nil || !strings.Contains(u.failed.Error(), "worker "+refusing[0]+" refuses the change: it has no such file") {
			t.Errorf("%s refuse: answered with %v", refusing, u.failed)
		}
		for _, w := range r.workers {
			if w.version != 1000 || w.waiting != 0 {
				t.Errorf("%s refuse: %s ends with a budget of %d, and %d wait", refusing, w.Worker, w.version, w.waiting)
			}
		}
		if n := r.count("w2 claims by 5000"); n > 0 {
			t.Errorf("%s refuse: w2 claims %d times by what was refused", refusing, n)
		}
	}
}

// TestSpreadConfigureAtTheEnd: URLs that a change allows are fetched, whenever it comes before the end is found. Workers answer slowly whether anything is
// left: the change may come and be in force between the answers of two.
func TestSpreadConfigureAtTheEnd(t *testing.T) {
	crawlWith := func(after time.Duration) (*spreadRing, *changed, time.Duration) {
		r := newSpread(t, 10, 10)
		r.of("w1").spent = 30
		r.answers.After(3 * time.Second)
		u, start := r.change(after, `{"budget":{"pages":5000}}`), r.Now()
		if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
			t.Fatal(err)
		}
		return r, u, r.Now().Sub(start)
	}
	_, _, end := crawlWith(time.Hour)
	fetched := 0
	for after := end - 2*time.Second; after < end; after += 200 * time.Millisecond {
		r, u, _ := crawlWith(after)
		switch taken := u.rejected == nil && u.failed == nil && !u.at.IsZero(); {
		case taken && r.used() != 50:
			t.Errorf("a change after %v is taken, and the crawl ends with %d waiting at w1", after, r.of("w1").waiting)
		case taken:
			fetched++
		}
	}
	if fetched < 5 {
		t.Errorf("only %d changes came before the end at %v", fetched, end)
	}
}

// TestSpreadConfigureRejoins: a worker that was given up and joins again with its folder gets what changed meanwhile: its frontier knows the run, with
// the earlier definition.
func TestSpreadConfigureRejoins(t *testing.T) {
	r := newSpread(t, 250, 150)
	var w *spreadWorker
	r.at(12*time.Second, func() { r.lose("w2"); w = r.of("w2") })
	r.at(25*time.Second, func() { r.drop("w2") })
	u := r.change(45*time.Second, `{"budget":{"pages":5000}}`)
	r.at(70*time.Second, func() {
		r.replace("w2", w.Instance, 50)
		r.of("w2").used = w.used
	})
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if u.failed != nil || len(u.late) > 0 || r.count("Configure w2: 5000") != 1 || r.count("w2 claims by 5000") == 0 {
		t.Errorf("%+v, %v", u, r.called())
	}
}

// TestSpreadBudgetLowered: workers that were allotted more return it when an operator makes the budget smaller: what they fetch together is the smaller
// budget, or, if more is fetched already, what is by then. If a worker refuses the change, all of the former budget is fetched.
func TestSpreadBudgetLowered(t *testing.T) {
	for _, c := range []struct {
		pages, want int64
		refused     bool
	}{{300, 300, false}, {20, 0, false}, {300, 2000, true}} {
		r := newSpread(t, 1000, 1000)
		by := int64(0) // what is fetched when the change is in force
		u := r.change(35*time.Second, fmt.Sprintf(`{"budget":{"pages":%d}}`, c.pages))
		u.then = func() { by = r.used() }
		if c.refused {
			r.of("w2").refuses = c.pages
		}
		if err := r.run(Crawl, spreadCrawl(100_000), nil); err != nil {
			t.Fatal(err)
		}
		if want := max(c.want, by); (u.failed != nil) != c.refused || by < 40 || r.used() != want {
			t.Errorf("%+v: %d are fetched, %d of them before the change: %v", c, r.used(), by, u.failed)
		}
		if out := crawlResult(t, r.env); (out.Reason == crawl.ReasonPages) == c.refused {
			t.Errorf("%+v: ends with %s", c, out.Reason)
		}
	}
}

// TestSpreadBudgetReturned: a worker that fetches slowly returns what others want, also if it is asked while it waits for something to claim.
func TestSpreadBudgetReturned(t *testing.T) {
	r := newSpread(t, 1000, 1000)
	r.of("w1").slow = true
	start := r.Now()
	if err := r.run(Crawl, spreadCrawl(300), nil); err != nil {
		t.Fatal(err)
	}
	if took := r.Now().Sub(start); r.used() != 300 || took > 3*time.Minute || r.of("w1").used > 50 {
		t.Errorf("%d are fetched in %s, %d of them by the slow worker", r.used(), took, r.of("w1").used)
	}
}

// TestSpreadBudgetOfALostWorker: what a worker was allotted and has not used when the ring gives it up is used by the others: all of the budget is
// fetched, and no more. Its numbers are what it has done, not what it last reported.
func TestSpreadBudgetOfALostWorker(t *testing.T) {
	for _, pages := range []int64{200, 400} {
		r := newSpread(t, 1000, 1000, 1000)
		left := int64(0)
		r.at(14*time.Second, func() { r.lose("w2"); left = r.of("w2").used })
		r.at(45*time.Second, func() { r.drop("w2") })
		if err := r.run(Crawl, spreadCrawl(pages), nil); err != nil {
			t.Fatal(err)
		}
		out := crawlResult(t, r.env)
		if out.Reason != crawl.ReasonPages || left == 0 || r.used()+left != pages || r.count("LostTotals w2") != 1 {
			t.Errorf("of %d pages %d are fetched, and %d by the lost worker: %s", pages, r.used(), left, out.Reason)
		}
		if want := left + int64(len(r.workers)); out.Totals.Pages != want { // at their ends the others say 1 each
			t.Errorf("the result has %d pages, want %d", out.Totals.Pages, want)
		}
	}
}

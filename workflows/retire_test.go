package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// parts are the partitions from one up to another.
func parts(from, to int) (list []int) {
	for p := from; p < to; p++ {
		list = append(list, p)
	}
	return list
}

// takesOver has the workers take in what is lost; one partition is made again by a time.
func (r *spreadRing) takesOver(until time.Duration, asked func(in activities.LostInput)) {
	start := r.Now()
	r.OnActivity("TakeOver", mock.Anything, mock.Anything).After(time.Minute).Return(func(_ context.Context, in activities.LostInput) (out activities.LostResult, err error) {
		r.note("TakeOver " + in.Worker)
		if asked(in); r.Now().Sub(start) >= until {
			return activities.LostResult{Taken: parts(0, ring.Partitions)}, nil
		}
		return activities.LostResult{Taken: parts(1, ring.Partitions)}, nil
	})
}

// TestSpreadCrawlContinuesWithLosses: a crawl whose history is long continues as new while what a lost worker has left is taken in, which may take as
// long as a partition is made again. The next execution takes in the rest alone, and ends what the crawl has there; only then the crawl ends.
func TestSpreadCrawlContinuesWithLosses(t *testing.T) {
	r := newSpread(t, 100_000, 100_000)
	r.open = 3
	r.takesOver(30*time.Minute, func(activities.LostInput) {})
	r.at(12*time.Second, func() { r.lose("w2") })
	r.at(45*time.Second, func() { r.drop("w2") })
	r.at(5*time.Minute, func() { r.SetContinueAsNewSuggested(true) })
	start := r.Now()
	err := r.run(Crawl, spreadCrawl(1_000_000), nil)
	var raw json.RawMessage
	var state CrawlState
	continued(t, err, &raw, &state)
	i := slices.IndexFunc(state.Members, func(m *CrawlMember) bool { return m.Gone })
	if took := r.Now().Sub(start); took > 10*time.Minute || i < 0 || !state.Members[i].Retiring || len(state.Members[i].Taken) != ring.Partitions-1 || r.count("Retire w2") != 0 {
		t.Fatalf("after %s: %+v", took, state.Members)
	}

	next := newSpread(t, 20)
	next.open, next.epoch = 3, state.RingEpoch
	next.lost["w2"] = &spreadWorker{used: 7}
	next.workers[0].used = r.of("w1").used
	next.takesOver(0, func(in activities.LostInput) {
		if len(in.Taken) != ring.Partitions-1 || in.Taken[0] != 1 || len(in.Batches) != 0 {
			t.Errorf("asked again with %d partitions that have all, batches %v", len(in.Taken), in.Batches)
		}
	})
	if err := next.run(Crawl, raw, &state); err != nil {
		t.Fatal(err)
	}
	if out := crawlResult(t, next.env); out.Reason != crawl.ReasonDrained || next.count("TakeOver w2") != 1 || next.count("Retire w2") != 1 || next.count("LostTotals w2") != 1 || out.Totals.Pages != 1+7 {
		t.Errorf("%+v, %v", out, next.called())
	}
}

// TestSpreadCrawlContinuesWithAll: a crawl that continues as new waits for the hand-over of the controllers of all members, also of one whose worker has
// had another folder.
func TestSpreadCrawlContinuesWithAll(t *testing.T) {
	for _, replaced := range []int{1, 2} {
		r := newSpread(t, 100_000, 100_000)
		name := fmt.Sprint("w", replaced)
		r.at(15*time.Second, func() { r.lose(name) })
		r.at(25*time.Second, func() {
			r.drop(name)
			r.replace(name, "i-new", 100_000)
		})
		r.at(2*time.Minute+300*time.Millisecond, func() { r.SetContinueAsNewSuggested(true) })
		err := r.run(Crawl, spreadCrawl(1_000_000), nil)
		var raw json.RawMessage
		var state CrawlState
		continued(t, err, &raw, &state)
		for _, m := range state.Present() {
			if m.Controller.Round == 0 {
				t.Errorf("%s is replaced: the controller of %s has not handed over", name, m.Worker)
			}
		}
		if len(state.Present()) != 2 || r.count("Retire "+name) != 1 {
			t.Errorf("%s is replaced: %+v", name, state.Members)
		}
	}
}

// TestSpreadCrawlTakesOver: what is taken in is asked for of each worker until the owners of all partitions have it, also of one that joins; one that
// fails is asked again, and one that leaves is not waited for. The crawl does not end before.
func TestSpreadCrawlTakesOver(t *testing.T) {
	r := newSpread(t, 50, 50, 50)
	r.open = 3
	r.takesOver(6*time.Minute, func(activities.LostInput) {})
	r.at(12*time.Second, func() { r.lose("w2") })
	r.at(45*time.Second, func() { r.drop("w2") })
	r.at(2*time.Minute, func() { r.add(50) })
	r.at(3*time.Minute, func() { r.lose("w3") })
	r.at(4*time.Minute, func() { r.drop("w3") })
	start := r.Now()
	if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
		t.Fatal(err)
	}
	if took := r.Now().Sub(start); took < 6*time.Minute || took > 20*time.Minute || r.count("Retire w2") != 1 || r.count("Retire w3") != 1 || r.count("LostTotals w2") != 1 {
		t.Errorf("after %s: %v", took, r.called())
	}
}

// TestSpreadCrawlWorksWhileAURLWaits: while a submitted URL waits for an owner, a crawl whose history is long continues to claim; it continues as new
// when the URL is answered.
func TestSpreadCrawlWorksWhileAURLWaits(t *testing.T) {
	r := newSpread(t, 100_000)
	start := r.Now()
	r.OnActivity("Owners", mock.Anything, mock.Anything).Return(func(context.Context, activities.OwnersInput) ([]string, error) {
		if r.Now().Sub(start) < 10*time.Minute {
			return []string{""}, nil
		}
		return []string{"w1"}, nil
	})
	r.OnActivity("Submit", mock.Anything, mock.Anything).Return([]frontier.SubmitAnswer{{Answer: "accepted"}}, nil)
	u := &submitted{}
	r.at(30*time.Second, func() { r.UpdateWorkflow(names.UpdateSubmit, "", u, urls(1)) })
	r.at(time.Minute, func() { r.SetContinueAsNewSuggested(true) })
	var early, late int
	r.at(3*time.Minute, func() { early = r.count("claim w1") })
	r.at(8*time.Minute, func() { late = r.count("claim w1") })
	err := r.run(Crawl, spreadCrawl(1_000_000), nil)
	var raw json.RawMessage
	var state CrawlState
	continued(t, err, &raw, &state)
	if took := r.Now().Sub(start); late-early < 50 || took < 10*time.Minute || took > 20*time.Minute || !u.completed || u.failed != nil {
		t.Errorf("after %s: %d claims between the 3rd minute and the 8th; the answer: %+v", took, late-early, u)
	}
}

// TestSpreadCrawlNewFolder: a worker that comes back with a new data folder has a controller at once, while the others take over what its former folder has
// left. Then that is retired and counted alone, but for what it knew, which is at others; and what its last controller said late does not pass for the new one's.
func TestSpreadCrawlNewFolder(t *testing.T) {
	r := newSpread(t, 400, 400)
	r.open = 3
	r.takesOver(10*time.Minute, func(in activities.LostInput) {
		if in.Instance != "i-w2" {
			t.Errorf("it is taken over what %+v has left", in.Holder)
		}
	})
	former := r.of("w2")
	r.at(12*time.Second, func() { r.lose("w2") })
	r.at(45*time.Second, func() {
		r.drop("w2")
		r.replace("w2", "i-new", 50)
	})
	r.at(90*time.Second, func() {
		r.SignalWorkflow(names.SignalProgress, activities.Progress{Worker: "w2", Instance: "i-w2", Progress: frontier.Progress{Totals: frontier.Totals{Pages: 7777}}})
	})
	early, pages := 0, int64(0)
	r.at(2*time.Minute, func() {
		early = r.count("Retire w2")
		var state CrawlState
		if value, err := r.QueryWorkflow(names.QueryStatus); err != nil || value.Get(&state) != nil {
			t.Error(err)
		}
		pages = state.Progress.Totals.Pages
	})
	claimed := int64(0)
	r.at(3*time.Minute, func() { claimed = r.of("w2").used })
	if err := r.run(Crawl, spreadCrawl(2000), nil); err != nil {
		t.Fatal(err)
	}
	if early > 0 || claimed == 0 || pages > 2000 || r.count("Retire w2") != 1 || r.count("LostTotals w2") != 1 {
		t.Errorf("the new folder has %d pages after three minutes, the crawl %d after two; %v", claimed, pages, r.called())
	}
	if out := crawlResult(t, r.env); out.Reason != crawl.ReasonDrained || out.Totals.Pages != former.used+2 || out.Totals.Requisites != 0 || r.used()+former.used != 850 {
		t.Errorf("%+v; %d and %d are fetched", out, r.used(), former.used)
	}
}

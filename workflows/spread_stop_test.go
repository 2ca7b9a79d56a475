package workflows

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// claims counts the rounds in which a worker has claimed something; of no worker: of all.
func (r *spreadRing) claims(worker string) (n int) {
	for _, call := range r.called() {
		if strings.HasPrefix(call, worker) && strings.Contains(call, " claims by ") {
			n++
		}
	}
	return n
}

// TestSpreadStop: a crawl of several workers that is stopped, also if it was paused, claims nothing more at any of them, and ends at all. One that joins
// meanwhile claims nothing. One that is lost is waited for until the ring gives it up, and what it has done counts.
func TestSpreadStop(t *testing.T) {
	for _, paused := range []bool{false, true} {
		r := newSpread(t, 5000, 5000, 5000)
		signal := func(after time.Duration, name string) {
			r.at(after, func() { r.SignalWorkflow(name, nil) })
		}
		if paused {
			signal(18*time.Second, names.SignalPause)
		}
		lost, before, used := int64(0), 0, int64(0)
		r.at(25*time.Second, func() { r.lose("w2"); lost = r.of("w2").used })
		signal(30*time.Second, names.SignalStop)
		r.at(33*time.Second, func() { before, used = r.claims(""), r.used(); r.add(100) })
		r.at(2*time.Minute, func() { r.drop("w2") })
		start := r.Now()
		if err := r.run(Crawl, spreadCrawl(100_000), nil); err != nil {
			t.Fatal(err)
		}
		out, took := crawlResult(t, r.env), r.Now().Sub(start)
		if after := r.claims(""); before == 0 || after != before || r.used()+lost != used {
			t.Errorf("paused %t: %d rounds have claimed when it was stopped, %d at the end; %d are fetched, in place of %d", paused, before, after, r.used()+lost, used)
		}
		ends := r.count("End, report false")
		if out.Reason != crawl.ReasonStopped || ends < 2 || ends > 3 || r.count("End, report true") != 1 || r.count("Retire w2") != 1 || lost == 0 || out.Totals.Pages != lost+int64(ends) {
			t.Errorf("paused %t: it ends at %d workers, with %+v; the lost one has fetched %d", paused, ends, out, lost)
		}
		if took < 2*time.Minute || took > 5*time.Minute {
			t.Errorf("paused %t: it took %v", paused, took)
		}
	}
}

// learning is a ring whose crawl has a topic, and learns it from a reference crawl of 60 pages. Workers that are silent in a step do not answer it.
func learning(t *testing.T, silent map[string]string, waiting ...int64) *spreadRing {
	r := newSpread(t, waiting...)
	answers := func(ctx context.Context, step string) (worker string, err error) {
		worker = path.Base(activity.GetInfo(ctx).TaskQueue)
		if silent[step] == worker {
			return worker, activity.ErrResultPending
		}
		return worker, nil
	}
	r.OnActivity("Samples", mock.Anything, mock.Anything).Return(func(ctx context.Context, _ string) (string, error) {
		w, err := answers(ctx, "Samples")
		return "samples/" + w, err
	})
	r.OnActivity("LearnTogether", mock.Anything, mock.Anything).Return(func(ctx context.Context, in activities.LearnInput) (out activities.LearnResult, err error) {
		w, err := answers(ctx, "LearnTogether")
		if err == nil {
			r.note(w + " learns from " + strings.Join(in.Samples, " "))
		}
		out.TopicModel.Pages = 60
		return out, err
	})
	return r
}

// TestSpreadLearn: all workers learn the topic from the samples of all, once, before they claim what follows; so does one that joins later. One that is lost
// while they learn is waited for until the ring gives it up.
func TestSpreadLearn(t *testing.T) {
	for name, test := range map[string]struct {
		silent  map[string]string // a worker by the step that it does not answer
		samples string
	}{
		"all answer":                        {nil, "samples/w1 samples/w2 samples/w3"},
		"one is lost with its samples":      {map[string]string{"Samples": "w2"}, "samples/w1 samples/w3"},
		"one is lost after it has put them": {map[string]string{"LearnTogether": "w2"}, "samples/w1 samples/w2 samples/w3"},
	} {
		t.Run(name, func(t *testing.T) {
			r := learning(t, test.silent, 400, 400, 400)
			lost, joins := int64(0), time.Minute
			if test.silent != nil {
				r.at(time.Minute, func() { r.lose("w2"); lost = r.of("w2").used })
				r.at(2*time.Minute, func() { r.drop("w2") })
				joins = 150 * time.Second
			}
			r.at(joins, func() { r.add(50) })
			definition := json.RawMessage(`{"name":"c","seeds":["http://a.test/"],"spread":true,"budget":{"pages":10000},"topic":{"keywords":["ravens"]},"reference":{"pages":60}}`)
			if err := r.run(Crawl, definition, nil); err != nil {
				t.Fatal(err)
			}
			out := crawlResult(t, r.env)
			if out.Reason != crawl.ReasonDrained || out.TopicModel == nil || out.TopicModel.Pages != 60 || r.used()+lost != 1250 {
				t.Errorf("%d are fetched, and %d by the lost worker: %+v", r.used(), lost, out)
			}
			calls := r.called()
			for _, w := range r.workers {
				learns := w.Worker + " learns from " + test.samples
				if r.count(learns) != 1 {
					t.Errorf("%q is called %d times: %v", learns, r.count(learns), calls)
					continue
				}
				before, after := 0, 0 // rounds that claim
				for i, call := range calls {
					if strings.HasPrefix(call, w.Worker+" claims by ") {
						if i < slices.Index(calls, learns) {
							before++
						} else {
							after++
						}
					}
				}
				if joined := w.Worker == "w4"; joined && before > 0 || before > 60/spreadBatch || after == 0 {
					t.Errorf("%s claims in %d rounds before it learns, in %d afterwards", w.Worker, before, after)
				}
			}
		})
	}
}

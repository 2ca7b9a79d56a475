package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

var batchInput = activities.BatchInput{
	Crawl: "c", Batch: "a.test-1", URLs: 3, Shards: 1,
	Claims: []activities.ClaimRef{{ID: "a.test-1", PLD: "a.test", IP: "10.0.0.1"}, {ID: "b.test-2", PLD: "b.test", IP: "10.0.0.2"}},
}

// batchSteps answers the steps of a batch, except some; fail names the step that fails, with err.
func batchSteps(e *env, open activities.OpenResult, fail string, err error, except ...string) {
	failing := func(step string) error {
		if step == fail {
			return err
		}
		return nil
	}
	answers := map[string]func(name string){
		"Open": func(name string) {
			does(e, name, func(activities.BatchInput) (activities.OpenResult, error) { return open, failing(name) })
		},
		"AskLeases": func(name string) { acts(e, name, func(activities.AskLeasesInput) error { return failing(name) }) },
		"Lease":     func(name string) { acts(e, name, func(activities.LeaseInput) error { return failing(name) }) },
		"FetchTargets": func(name string) {
			does(e, name, func(activities.BatchInput) (activities.FetchResult, error) {
				return activities.FetchResult{URLs: 3, Kinds: map[crawl.OutcomeKind]int{crawl.OutcomeDone: 3}}, failing(name)
			})
		},
		"Process": func(name string) {
			does(e, name, func(activities.BatchInput) (activities.ProcessResult, error) {
				return activities.ProcessResult{
					Analysed: &activities.AnalyseResult{Pages: 3}, Scored: &activities.ScoreResult{Pages: 3, Relevant: 1},
					Archived: &activities.ArchiveResult{Pages: 3, WARC: "c/data/a.warc.gz"},
				}, failing(name)
			})
		},
		"Commit": func(name string) { acts(e, name, func(activities.BatchInput) error { return failing(name) }) },
		"GiveBack": func(name string) {
			acts(e, name, func(in activities.BatchInput) error {
				if in.Batch != batchInput.Batch {
					e.t.Errorf("batch %q was given back", in.Batch)
				}
				return nil
			})
		},
	}
	for name, answer := range answers {
		if !slices.Contains(except, name) {
			answer(name)
		}
	}
}

func TestBatchSteps(t *testing.T) {
	for _, tc := range []struct {
		name string
		open activities.OpenResult
		want string
	}{
		{"all", activities.OpenResult{URLs: 3}, "Open FetchTargets Process Commit"},
		{"nothing left", activities.OpenResult{Done: true}, "Open"},
		{"archived before", activities.OpenResult{Archived: true}, "Open Commit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			batchSteps(e, tc.open, "", nil)
			if err := e.run(Batch, batchInput); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(e.called(), " "); got != tc.want {
				t.Errorf("steps %q, want %q", got, tc.want)
			}
			var out activities.BatchResult
			if err := e.GetWorkflowResult(&out); err != nil {
				t.Fatal(err)
			}
			if tc.name == "all" && (out.URLs != 3 || out.Archived == nil || out.Archived.Pages != 3 || out.Fetched.Kinds["done"] != 3 || out.Scored.Relevant != 1) {
				t.Errorf("the result is %+v", out)
			}
			if tc.open.Done && out.Note == "" {
				t.Error("nothing says why nothing was done")
			}
		})
	}
}

func TestBatchFails(t *testing.T) {
	for _, step := range []string{"Open", "AskLeases", "Lease", "FetchTargets", "Process", "Commit"} {
		t.Run(step, func(t *testing.T) {
			e := newEnv(t)
			open := activities.OpenResult{URLs: 3}
			if step == "Lease" || step == "AskLeases" {
				open.Asks = []politeness.Ask{{Lease: "a.test-1", IP: "10.0.0.1"}}
			}
			gone := temporal.NewNonRetryableApplicationError("the raven is gone", "Gone", nil)
			batchSteps(e, open, step, gone, "AskLeases")
			acts(e, "AskLeases", func(activities.AskLeasesInput) error {
				if step == "AskLeases" {
					return gone
				}
				e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "a.test-1", IP: "10.0.0.1"}}})()
				return nil
			})
			e.signals(nil)
			err := e.run(Batch, batchInput)
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != "Gone" || !strings.Contains(app.Message(), "the raven is gone") {
				t.Errorf("ends with %v, want the reason", err)
			}
			calls := e.called()
			if len(calls) < 2 || calls[len(calls)-2] != step || calls[len(calls)-1] != "GiveBack" {
				t.Errorf("steps %v: want %s, then GiveBack, and nothing after", calls, step)
			}
		})
	}
}

// A step that fails is tried again until the step itself gives up: attempts that a kill or an outage cuts off do not
// count.
func TestBatchTriesAgain(t *testing.T) {
	for _, step := range []string{"FetchTargets", "Process"} {
		e := newEnv(t)
		const enough = activities.DefaultAttempts + 2 // the test environment tries no more often; a server does
		tries := 0
		failing := func() error {
			if tries++; tries < enough {
				return errors.New("the store is away")
			}
			return nil
		}
		batchSteps(e, activities.OpenResult{URLs: 3}, "", nil, step)
		switch step {
		case "FetchTargets":
			does(e, step, func(activities.BatchInput) (activities.FetchResult, error) {
				return activities.FetchResult{}, failing()
			})
		case "Process":
			does(e, step, func(activities.BatchInput) (activities.ProcessResult, error) {
				return activities.ProcessResult{}, failing()
			})
		}
		if err := e.run(Batch, batchInput); err != nil {
			t.Errorf("%s: ends with %v", step, err)
		}
		if tries != enough || e.count("GiveBack") != 0 || e.count("Commit") != 1 {
			t.Errorf("%s was tried %d times; steps %v", step, tries, e.called())
		}
	}
}

// Local steps are tried for longer than the time of an attempt: a full disk, or a store that is away, lasts.
func TestBatchTriesLocalStepsAgain(t *testing.T) {
	for _, step := range []string{"Open", "Commit"} {
		e := newEnv(t)
		const enough = 9 // the pauses are 1, 2, 4 … 60 s: over two minutes in all
		tries := 0
		failing := func() error {
			if tries++; tries < enough {
				return errors.New("the disk is full")
			}
			return nil
		}
		batchSteps(e, activities.OpenResult{URLs: 3}, "", nil, step)
		if step == "Open" {
			does(e, step, func(activities.BatchInput) (activities.OpenResult, error) {
				return activities.OpenResult{URLs: 3}, failing()
			})
		} else {
			acts(e, step, func(activities.BatchInput) error { return failing() })
		}
		if err := e.run(Batch, batchInput); err != nil || tries != enough || e.count("GiveBack") != 0 {
			t.Errorf("%s was tried %d times, ends with %v; steps %v", step, tries, err, e.called())
		}
	}
}

// GiveBack is tried without end: without it the URLs are lost to the crawl until their claim runs out.
func TestBatchGivesBackInTheEnd(t *testing.T) {
	e := newEnv(t)
	batchSteps(e, activities.OpenResult{URLs: 3}, "Process", temporal.NewNonRetryableApplicationError("no", "No", nil), "GiveBack")
	const enough = 10 // the test environment tries no more often; a server does
	tries := 0
	acts(e, "GiveBack", func(activities.BatchInput) error {
		if tries++; tries < enough {
			return errors.New("busy")
		}
		return nil
	})
	if err := e.run(Batch, batchInput); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("ends with %v", err)
	}
	if tries != enough {
		t.Errorf("GiveBack was tried %d times, want until it worked, at the %dth", tries, enough)
	}
}

// A batch that is run again asks every shard that it needs for its leases, and fetches when it has all of
// them.
func TestBatchLeases(t *testing.T) {
	asks := []politeness.Ask{
		{Lease: "a.test-1", IP: "10.0.0.1", PerIP: 1, Worker: "w", Reply: "crawl/c/a.test/1"},
		{Lease: "b.test-2", IP: "10.0.0.2", PerIP: 1, Worker: "w", Reply: "crawl/c/a.test/1"},
	}
	in := batchInput
	in.Shards = 4
	e := newEnv(t)
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.BatchID(in.Crawl, in.Batch), TaskQueue: "q"})
	batchSteps(e, activities.OpenResult{URLs: 3, Asks: asks}, "", nil, "AskLeases")
	asked := map[int][]string{}
	acts(e, "AskLeases", func(in activities.AskLeasesInput) error {
		if in.Reply != "crawl/c/a.test/1" || in.Withdraw {
			t.Errorf("asks %+v", in)
		}
		for _, a := range in.Asks {
			asked[in.Shard] = append(asked[in.Shard], a.Lease)
		}
		return nil
	})
	e.at(30*time.Second, e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "b.test-2", IP: "10.0.0.2"}}}))
	e.at(40*time.Second, func() {
		if e.count("FetchTargets") > 0 {
			t.Error("fetches before it has all leases")
		}
	})
	e.at(50*time.Second, e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "a.test-1", IP: "10.0.0.1"}}}))
	if err := e.run(Batch, in); err != nil {
		t.Fatal(err)
	}
	for _, ask := range asks {
		shard := activities.Shard(ask.IP, in.Shards)
		if !slices.Contains(asked[shard], ask.Lease) {
			t.Errorf("%s was not asked for at shard %d: %v", ask.Lease, shard, asked)
		}
	}
	if want := "Open AskLeases Lease AskLeases Lease FetchTargets Process Commit"; strings.Join(e.called(), " ") != want {
		t.Errorf("steps %v, want %s", e.called(), want)
	}
}

// A shard may be terminated before it grants, so a batch asks every minute again for leases that it lacks. After half an
// hour it fetches with the leases that it has, and withdraws the other asks.
func TestBatchAsksAgain(t *testing.T) {
	for _, tc := range []struct {
		name    string
		granted time.Duration
		asks    int
		last    string
	}{
		{"granted in the end", 10*time.Minute + askAgain/2, 11, "ask b"},
		{"never granted", 2 * leaseWait, int(leaseWait/askAgain) + 1, "withdraw b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			asks := []politeness.Ask{{Lease: "a", IP: "10.0.0.1"}, {Lease: "b", IP: "10.0.0.2"}}
			batchSteps(e, activities.OpenResult{URLs: 3, Asks: asks}, "", nil, "AskLeases")
			var asked []string
			acts(e, "AskLeases", func(in activities.AskLeasesInput) error {
				what := "ask"
				if in.Withdraw {
					what = "withdraw"
				}
				for _, a := range in.Asks {
					what += " " + a.Lease
				}
				if asked = append(asked, what); len(asked) == 1 {
					e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "a"}}})()
				}
				return nil
			})
			e.at(tc.granted, e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "b"}}}))
			if err := e.run(Batch, batchInput); err != nil {
				t.Fatal(err)
			}
			if len(asked) != tc.asks || asked[0] != "ask a b" || asked[1] != "ask b" || asked[len(asked)-1] != tc.last {
				t.Errorf("asked %q", asked)
			}
			if e.count("FetchTargets") != 1 {
				t.Errorf("steps %q", e.called())
			}
		})
	}
}

// A batch of a worker with another number of shards fails with an error that says so, and gives its URLs back.
func TestBatchOfAnotherNumberOfShards(t *testing.T) {
	e := newEnv(t)
	batchSteps(e, activities.OpenResult{URLs: 3, Asks: []politeness.Ask{{Lease: "a", IP: "10.0.0.1"}}}, "", nil, "AskLeases")
	acts(e, "AskLeases", func(activities.AskLeasesInput) error {
		e.granted(politeness.Answer{Fault: "politeness has 4 shards"})()
		return nil
	})
	var fault *temporal.ApplicationError
	if err := e.run(Batch, batchInput); !errors.As(err, &fault) || fault.Type() != activities.ErrorShards {
		t.Errorf("ends with %v", err)
	}
	if calls := e.called(); calls[len(calls)-1] != "GiveBack" {
		t.Errorf("steps %q", calls)
	}
}

// After a reset a run gets the signals of the run before it: grants that came before it asked are of leases
// that were released long ago.
func TestBatchForgetsOldGrants(t *testing.T) {
	e := newEnv(t)
	old := time.Date(2026, 7, 1, 11, 50, 0, 0, time.UTC)
	fresh := old.Add(time.Hour)
	batchSteps(e, activities.OpenResult{URLs: 3, Asks: []politeness.Ask{{Lease: "a.test-1", IP: "10.0.0.1"}}}, "", nil, "AskLeases", "Lease")
	var taken []time.Time
	acts(e, "Lease", func(in activities.LeaseInput) error {
		for _, g := range in.Grants {
			taken = append(taken, g.Deadline)
		}
		return nil
	})
	grant := func(deadline time.Time) func() {
		return e.granted(politeness.Answer{Grants: []politeness.Grant{{Lease: "a.test-1", IP: "10.0.0.1", Deadline: deadline}}})
	}
	acts(e, "AskLeases", func(activities.AskLeasesInput) error {
		grant(fresh)()
		return nil
	})
	e.signals(nil)
	e.at(0, grant(old))
	if err := e.run(Batch, batchInput); err != nil {
		t.Fatal(err)
	}
	if len(taken) != 1 || !taken[0].Equal(fresh) {
		t.Errorf("took the leases that end at %v, want %v", taken, fresh)
	}
}

func TestBatchCancelled(t *testing.T) {
	for _, tc := range []struct {
		name string
		open activities.OpenResult
	}{
		{"while it fetches", activities.OpenResult{URLs: 3}},
		{"while it waits for leases", activities.OpenResult{URLs: 3, Asks: []politeness.Ask{{Lease: "a.test-1", IP: "10.0.0.1"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			batchSteps(e, tc.open, "", nil, "FetchTargets")
			e.signals(nil)
			e.OnActivity("FetchTargets", mock.Anything, mock.Anything).Return(func(ctx context.Context, _ activities.BatchInput) (activities.FetchResult, error) {
				e.note("FetchTargets")
				e.CancelWorkflow()
				<-ctx.Done()
				return activities.FetchResult{}, ctx.Err()
			})
			if len(tc.open.Asks) > 0 {
				e.at(time.Minute, e.CancelWorkflow)
			}
			err := e.run(Batch, batchInput)
			var cancelled *temporal.CanceledError
			if !errors.As(err, &cancelled) {
				t.Errorf("ends with %v, want cancelled", err)
			}
			if calls := e.called(); calls[len(calls)-1] != "GiveBack" {
				t.Errorf("steps %v, want GiveBack in the end", calls)
			}
		})
	}
}

package workflows

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// Progress is reported often at first and seldom later: a crawl of ten hours reports about 120 times, one of a minute twice. Each of several
// workers begins later, so that in a minute four of them report as often as one.
func TestDue(t *testing.T) {
	reports := func(run time.Duration, workers int) (n int) {
		var since, wait time.Duration
		for range run / time.Second {
			since += time.Second
			now, next := reportDue(since, wait, workers, false)
			if wait = next; now {
				n++
				since = 0
			}
		}
		return n
	}
	for run, want := range map[time.Duration]int{5 * time.Second: 0, time.Minute: 2, time.Hour: 15, 10 * time.Hour: 123} {
		if got := reports(run, 0); got != want {
			t.Errorf("in %v the crawl gets %d reports, want %d", run, got, want)
		}
	}
	for workers, want := range map[int]int{1: 2, 4: 1, 50: 0} {
		if got := reports(time.Minute, workers); got != want {
			t.Errorf("in a minute the crawl gets %d reports of each of %d workers, want %d", got, workers, want)
		}
	}
	if got := reports(time.Hour, 200); got != 12 {
		t.Errorf("in an hour the crawl gets %d reports of each of 200 workers, want one in %s", got, progressLast)
	}
	if now, _ := reportDue(0, progressLast, 1, true); !now {
		t.Error("a change is not reported at once")
	}
}

// Several workers report late, and whatever a worker has to say counts as a report; a controller of an earlier version reports as before.
func TestReportsOfSeveral(t *testing.T) {
	for seldom, want := range map[bool][]int{true: {3, 8}, false: {2, 3, 4, 7}} {
		e := newController(t, func(_ *env, in activities.ClaimInput) (activities.ClaimResult, error) {
			p := activities.Progress{Progress: frontier.Progress{Waiting: int(in.Round)}, Empty: in.Round >= 3, Quotas: map[crawl.Reason]share.QuotaReport{crawl.ReasonPages: {}}}
			return activities.ClaimResult{Progress: p, Sent: 1, Drained: in.Round == 8}, nil // a shard that does not answer: each round lasts a minute
		})
		e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.CrawlID("c"), TaskQueue: names.TaskQueue})
		in := controllerInput
		in.Shared = activities.Shared{Members: 4, Seldom: seldom}
		var rounds []int
		parent := func(ctx workflow.Context) error {
			onProgress := workflow.GetSignalChannel(ctx, names.SignalProgress)
			workflow.Go(ctx, func(ctx workflow.Context) {
				for p := (activities.Progress{}); onProgress.Receive(ctx, &p); {
					rounds = append(rounds, p.Waiting)
				}
			})
			ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: controllerID})
			return workflow.ExecuteChildWorkflow(ctx, FetcherController, in).Get(ctx, nil)
		}
		e.RegisterWorkflow(parent)
		if err := e.run(parent); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rounds, want) {
			t.Errorf("seldom %v: reports after rounds %v, want %v", seldom, rounds, want)
		}
	}
}

// TestReportOfTheLastRound: what a controller says in the round after which it continues as new, the next execution says again: Temporal drops a signal of an execution
// that ends. Else a crawl learned five minutes later that nothing is left.
func TestReportOfTheLastRound(t *testing.T) {
	for last, want := range map[int64][]int{controllerRounds - 2: {controllerRounds - 2}, controllerRounds: {controllerRounds, controllerRounds + 1}} { // the environment drops none
		e := newController(t, func(_ *env, in activities.ClaimInput) (activities.ClaimResult, error) {
			p := activities.Progress{Progress: frontier.Progress{Waiting: int(in.Round)}, Empty: in.Round >= last, Quotas: map[crawl.Reason]share.QuotaReport{crawl.ReasonPages: {}}}
			return activities.ClaimResult{Progress: p, Drained: in.Round == controllerRounds+3}, nil
		})
		e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.CrawlID("c"), TaskQueue: names.TaskQueue})
		in, reports := controllerInput, []int{}
		in.Shared = activities.Shared{Members: 4, Seldom: true}
		parent := func(ctx workflow.Context) error {
			onProgress := workflow.GetSignalChannel(ctx, names.SignalProgress)
			workflow.Go(ctx, func(ctx workflow.Context) {
				for p := (activities.Progress{}); onProgress.Receive(ctx, &p); {
					reports = append(reports, p.Waiting)
				}
			})
			ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: controllerID})
			return workflow.ExecuteChildWorkflow(ctx, FetcherController, in).Get(ctx, nil)
		}
		e.RegisterWorkflow(parent)
		if err := e.run(parent); err != nil || !slices.Equal(reports, want) {
			t.Errorf("nothing is left after round %d: reports after rounds %v, want %v; %v", last, reports, want, err)
		}
	}
}

// The controller's state is that of its last round, however seldom it reports to its crawl.
func TestControllerIsCurrent(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		return activities.ClaimResult{Progress: activities.Progress{Progress: frontier.Progress{Totals: frontier.Totals{Pages: 10 * in.Round}, Waiting: 7}, InFlight: 3}, Drained: in.Round == 5}, nil
	})
	e.at(0, func() {})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	value, err := e.QueryWorkflow(names.QueryStatus)
	if err != nil {
		t.Fatal(err)
	}
	var p activities.Progress
	if err := value.Get(&p); err != nil || p.Totals.Pages != 50 || p.Waiting != 7 || p.InFlight != 3 || p.Worker == "" || p.At.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	if out := controllerResult(t, e); out.State.Progress.Totals.Pages != 50 {
		t.Errorf("%+v", out)
	}
	for _, s := range e.sent {
		if s.signal == names.SignalProgress {
			t.Errorf("its crawl got reports of five rounds in no time: %+v", s)
		}
	}
}

func TestDescribe(t *testing.T) {
	p := activities.Progress{
		Progress: frontier.Progress{
			Totals:  frontier.Totals{Pages: 24841, Scored: 200, Relevant: 114, Bytes: 12_340_000, Errors: 1, Robots: 4, Retries: 2, Failed: 1},
			Waiting: 245, Queues: 7, Harvests: []float64{1, 0.5}, Reserve: &frontier.Reserve{Price: 0.25, Held: 2},
		},
		InFlight: 764, At: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC),
	}
	want := "**broad**: 24841 pages, harvest ratio 0.57, 245 URLs wait, 1 error, 12.3 MB\n\n" +
		"764 more URLs are fetched and not committed yet. 114 of 200 scored pages are relevant, by tenths of the run 1.00 0.50. " +
		"7 queues have URLs; 4 URLs were refused by robots.txt; 2 retries, 1 failed batch.\n\n" +
		"2 queues wait: their next pages are worth less than 0.25 of one of the best hosts, and better ones are expected to use the budget of pages up.\n\nAs of 2026-07-01 12:00:00 UTC."
	if got := describe("broad", p); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := describe("beginning", activities.Progress{}); strings.Contains(got, "harvest") || !strings.HasPrefix(got, "**beginning**: 0 pages, 0 URLs wait, 0 errors") {
		t.Errorf("%s", got)
	}
}

func TestReasonOf(t *testing.T) {
	for want, err := range map[string]error{
		"no grant came": errors.New("no grant came"),
		"its worker gave no sign of life for 10s: it was stopped or killed, or cannot reach Temporal": temporal.NewHeartbeatTimeoutError(),
		"it took longer than it may, after: the disk is full":                                         temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, temporal.NewApplicationError("the disk is full", "DiskIsFull")),
		"the spool is gone": temporal.NewApplicationError("the spool is gone", "SpoolIsGone"),
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The error of a failed batch says which step failed, why, what happens now and how to retry it.
func TestBatchSaysWhy(t *testing.T) {
	e := newEnv(t)
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.BatchID("c", "a.test-1"), TaskQueue: "q/w"})
	batchSteps(e, activities.OpenResult{URLs: 3}, "Process", temporal.NewNonRetryableApplicationError("ARCHIVE: the spool is gone", activities.ErrorSpool, nil))
	err := e.run(Batch, batchInput)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != activities.ErrorSpool {
		t.Fatalf("ends with %v", err)
	}
	for _, want := range []string{"ARCHIVE failed", ": the spool is gone. ", "its other URLs go back to their queues", "temporal workflow reset --type FirstWorkflowTask --reason retry --workflow-id 'crawl/c/a.test/1'"} {
		if !strings.Contains(app.Message(), want) {
			t.Errorf("%q is not in %q", want, app.Message())
		}
	}
}

func TestStepFailed(t *testing.T) {
	for _, tc := range []struct {
		step   string
		state  enums.RetryState
		reason string
		want   string
	}{
		{"Process", enums.RETRY_STATE_NON_RETRYABLE_FAILURE, "AAH: why", "AAH failed, and trying it again cannot help: why"},
		{"Process", enums.RETRY_STATE_TIMEOUT, "why", "AAH, SCORE and ARCHIVE failed: why"},
		{"FetchTargets", enums.RETRY_STATE_TIMEOUT, "why", "FETCH failed: why"},
		{"New", enums.RETRY_STATE_UNSPECIFIED, "SCORE: why", "New failed: SCORE: why"},
	} {
		if got := stepFailed(tc.step, tc.state, tc.reason); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// The site with the most waiting URLs is named if it may be a trap: neither in a crawl of one site, nor if it is one of many.
func TestMost(t *testing.T) {
	for _, tc := range []struct {
		longest *frontier.Longest
		queues  int
		want    string
	}{
		{nil, 0, ""},
		{&frontier.Longest{PLD: "a.test", Waiting: 1000, Of: 1000}, 1, ""},
		{&frontier.Longest{PLD: "a.test", Waiting: 400, Of: 1000}, 9, ""},
		{&frontier.Longest{PLD: "a.test", Waiting: 90, Of: 91}, 2, ""},
		{&frontier.Longest{PLD: "a.test", Waiting: 970, Of: 1000, Pages: 300}, 9, "97 % of the URLs that wait, 970, are of a.test, which gave 300 of 400 pages so far"},
	} {
		p := activities.Progress{Progress: frontier.Progress{Longest: tc.longest, Queues: tc.queues, Totals: frontier.Totals{Pages: 400}}}
		got := MostWaiting(p)
		if !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") || tc.want != "" && !strings.Contains(got, "`budget.per_pld`") {
			t.Errorf("%+v: %q", tc.longest, got)
		}
		if tc.want != "" && !strings.Contains(describe("broad", p), got) {
			t.Errorf("the details do not say so: %s", describe("broad", p))
		}
	}
}

package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// The shortest definitions, with and without a topic.
var (
	withTopic    = json.RawMessage(`{"name":"c","seeds":["http://a.test/"],"topic":{"keywords":["raven"]}}`)
	withoutTopic = json.RawMessage(`{"name":"c","seeds":["http://a.test/"]}`)
)

// newCrawl is a crawl whose controllers behave as given. It records the calls of its steps.
func newCrawl(t *testing.T, controller func(e *env, ctx workflow.Context, in ControllerInput) (ControllerResult, error)) *env {
	e := bareEnv(t)
	e.RegisterWorkflowWithOptions(Crawl, workflow.RegisterOptions{Name: names.Crawl})
	e.RegisterWorkflowWithOptions(func(ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		if id := workflow.GetInfo(ctx).WorkflowExecution.ID; id != controllerID || in.Crawl != "c" || in.Worker != "w" || in.Queue != "q/w" || in.Instance != "i" {
			t.Errorf("controller %s has %+v", id, in)
		}
		if queue := workflow.GetInfo(ctx).TaskQueueName; queue != in.Queue {
			t.Errorf("the controller is on the task queue %s, its activities on %s", queue, in.Queue)
		}
		e.note("controller")
		return controller(e, ctx, in)
	}, workflow.RegisterOptions{Name: names.FetcherController})
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.CrawlID("c"), TaskQueue: names.TaskQueue})
	e.OnActivity("Members", mock.Anything).Return([]activities.Member{{Worker: "w", Queue: "q/w", Instance: "i"}}, nil)
	e.OnActivity("LastRun", mock.Anything, mock.Anything).Return(activities.LastRun{}, nil)
	does(e, "Begin", func(in activities.BeginInput) (activities.BeginResult, error) {
		if in.Run != 1 || !strings.HasPrefix(in.Owner, "crawl/c@") || in.Definition.Name != "c" || in.Holder != (activities.Holder{Worker: "w", Instance: "i"}) {
			t.Errorf("begins with %+v", in)
		}
		return activities.BeginResult{Run: 1, Seeds: 1, Archive: "store"}, nil
	})
	acts(e, "Phase", func(in activities.PhaseInput) error {
		e.note(fmt.Sprintf("reference %v, %d pages", in.Reference, in.Pages))
		return nil
	})
	does(e, "Learn", func(string) (activities.LearnResult, error) {
		return activities.LearnResult{TopicModel: topic.Model{Pages: 20, Relevant: 7}}, nil
	})
	does(e, "Submit", func(in activities.SubmitInput) ([]frontier.SubmitAnswer, error) {
		n, ours := strings.CutPrefix(in.ID, "submit-1-"+names.CrawlID("c")+"@-")
		if !ours {
			t.Errorf("the batch of URLs is named %q, want run, owner, number and update", in.ID)
		}
		n, update, _ := strings.Cut(n, "-")
		e.note("update " + update)
		e.note(fmt.Sprintf("%s: %d URLs", n, len(in.URLs)))
		e.left.Store(true)
		answers := make([]frontier.SubmitAnswer, len(in.URLs))
		for i := range answers {
			answers[i] = frontier.SubmitAnswer{URL: in.URLs[i].URL, Answer: frontier.SubmitAccepted}
		}
		return answers, nil
	})
	does(e, "Left", func(string) (bool, error) { return e.left.Load(), nil })
	does(e, "End", func(activities.EndInput) (activities.EndResult, error) {
		return activities.EndResult{Status: frontier.Status{Totals: frontier.Totals{Pages: 40, Scored: 40, Relevant: 10}}}, nil
	})
	return e
}

// endsWith are controllers that end with the given reasons, one after the other.
func endsWith(reasons ...crawl.Reason) func(*env, workflow.Context, ControllerInput) (ControllerResult, error) {
	n := -1
	return func(*env, workflow.Context, ControllerInput) (ControllerResult, error) {
		n = min(n+1, len(reasons)-1)
		return ControllerResult{Reason: reasons[n]}, nil
	}
}

func crawlResult(t *testing.T, e *env) CrawlResult {
	t.Helper()
	var out CrawlResult
	if err := e.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCrawlPhases(t *testing.T) {
	const reference, learn, broad = "Phase reference true, 500 pages controller", " Learn", " Phase reference false, 0 pages controller"
	for _, tc := range []struct {
		name       string
		definition json.RawMessage
		reasons    []crawl.Reason
		want       string
		reason     crawl.Reason
	}{
		{"reference, learn, broad", withTopic, []crawl.Reason{"phase", "pages"}, reference + learn + broad, "pages"},
		{"everything was seen in the reference crawl", withTopic, []crawl.Reason{"drained"}, reference + learn, "drained"},
		{"stopped in the reference crawl", withTopic, []crawl.Reason{"stopped"}, reference, "stopped"},
		{"budget spent in the reference crawl", withTopic, []crawl.Reason{"bytes"}, reference, "bytes"},
		{"no topic", withoutTopic, []crawl.Reason{"drained"}, strings.TrimPrefix(broad, " "), "drained"},
		{"handed over", withoutTopic, []crawl.Reason{crawl.ReasonHandover, crawl.ReasonHandover, "drained"}, strings.TrimPrefix(broad, " ") + " controller controller", "drained"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newCrawl(t, endsWith(tc.reasons...))
			if err := e.run(Crawl, tc.definition, nil); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(e.called(), " "), "Begin "+tc.want+" End"; got != want {
				t.Errorf("steps %q, want %q", got, want)
			}
			out := crawlResult(t, e)
			if out.Reason != tc.reason || out.Archive != "store" || out.Run != 1 || out.Totals.Pages != 40 || out.Harvest != 0.25 {
				t.Errorf("the result is %+v", out)
			}
			if learned := out.TopicModel != nil; learned != strings.Contains(tc.want, "Learn") {
				t.Errorf("learned: %v", learned)
			}
		})
	}
}

func TestCrawlRefusesBadDefinitions(t *testing.T) {
	e := newCrawl(t, endsWith("drained"))
	e.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{activities.Interceptor(&activities.Activities{})}})
	err := e.run(Crawl, json.RawMessage(`{"name":"no/good","seeds":["ftp://a.test/"],"budget":{"pages":0},"order":{"update":"often"}}`), nil)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || !app.NonRetryable() || app.Type() != activities.ErrorInput {
		t.Fatalf("ends with %v, want a failure that is not retried", err)
	}
	for _, fault := range []string{"name may contain", "seeds[0]", "budget.pages", "order.update"} {
		if !strings.Contains(app.Message(), fault) {
			t.Errorf("the reason does not name %q:\n%s", fault, app.Message())
		}
	}
	if len(e.called()) > 0 {
		t.Errorf("steps %v were taken", e.called())
	}
}

func TestCrawlFailsWithItsController(t *testing.T) {
	e := newCrawl(t, func(*env, workflow.Context, ControllerInput) (ControllerResult, error) {
		return ControllerResult{}, temporal.NewNonRetryableApplicationError("the frontier is gone", "Gone", nil)
	})
	if err := e.run(Crawl, withoutTopic, nil); err == nil || !strings.Contains(err.Error(), "the frontier is gone") {
		t.Errorf("ends with %v, want the reason", err)
	}
}

// An operator's signals reach the running controller and later ones.
func TestCrawlForwardsSignals(t *testing.T) {
	n := 0
	e := newCrawl(t, func(e *env, ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		if n++; n > 1 {
			e.note(fmt.Sprintf("begins paused %v, stopping %v", in.Paused, in.Stopping))
			return ControllerResult{Reason: "stopped"}, nil
		}
		for _, signal := range []string{names.SignalPause, names.SignalResume, names.SignalPause, names.SignalStop} {
			workflow.GetSignalChannel(ctx, signal).Receive(ctx, nil)
			e.note("hears " + signal)
		}
		return ControllerResult{Reason: crawl.ReasonHandover}, nil
	})
	status := func() CrawlState {
		var s CrawlState
		value, err := e.QueryWorkflow(names.QueryStatus)
		if err == nil {
			err = value.Get(&s)
		}
		if err != nil {
			t.Error(err)
		}
		return s
	}
	e.at(time.Minute, func() { e.SignalWorkflow(names.SignalPause, nil) })
	e.at(2*time.Minute, func() {
		if s := status(); !s.Paused || s.Phase != "broad" || !slices.Equal(s.Workers(), []string{"w"}) || s.Begun.Run != 1 {
			t.Errorf("the status is %+v", s)
		}
		e.SignalWorkflow(names.SignalResume, nil)
	})
	e.at(3*time.Minute, func() {
		e.SignalWorkflow(names.SignalProgress, activities.Progress{Worker: "w", Progress: frontier.Progress{Waiting: 12, Totals: frontier.Totals{Pages: 5}}})
	})
	e.at(4*time.Minute, func() {
		if s := status(); s.Paused || s.Progress.Waiting != 12 || s.Progress.Totals.Pages != 5 {
			t.Errorf("the status is %+v", s)
		}
		e.SignalWorkflow(names.SignalPause, nil)
	})
	e.at(5*time.Minute, func() { e.SignalWorkflow(names.SignalStop, nil) })
	if err := e.run(Crawl, withoutTopic, nil); err != nil {
		t.Fatalf("%v after %v", err, e.called())
	}
	want := []string{"controller", "hears pause", "hears resume", "hears pause", "hears stop", "controller", "begins paused false, stopping true", "End"}
	if got := e.called(); !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("calls\n%s\nwant in the end\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Between two controllers a crawl with a long history continues as new, with its definition, its state and
// the signals of the last moment.
func TestCrawlContinues(t *testing.T) {
	var last submitted
	e := newCrawl(t, func(e *env, ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		if err := workflow.Sleep(ctx, time.Minute); err != nil {
			return ControllerResult{}, err
		}
		e.SetContinueAsNewSuggested(true)
		e.UpdateWorkflow(names.UpdateSubmit, "", &last, urls(2))
		e.SignalWorkflowSkippingWorkflowTask(names.SignalPause, nil)
		in.Round += 1000
		in.Progress.Totals.Pages = 30
		return ControllerResult{Reason: crawl.ReasonHandover, State: in}, nil
	})
	definition, state := continuesAs(t, e.run(Crawl, withTopic, nil))
	if !state.Paused || state.Submits != 1 || state.Members[0].Controller.Round != 1000 || state.Begun.Run != 1 || state.Progress.Totals.Pages != 30 {
		t.Errorf("hands on %+v", state)
	}
	if e.count("1: 2 URLs") != 1 || last.result.Answers[frontier.SubmitAccepted] != 2 {
		t.Errorf("the URLs that were submitted in the last moment are lost: %v", e.called())
	}

	e = newCrawl(t, func(e *env, _ workflow.Context, in ControllerInput) (ControllerResult, error) {
		e.note(fmt.Sprintf("round %d, paused %v", in.Round, in.Paused))
		return ControllerResult{Reason: "stopped"}, nil
	})
	if err := e.run(Crawl, definition, state); err != nil {
		t.Fatal(err)
	}
	want := []string{"Phase", "reference true, 500 pages", "controller", "round 1000, paused true", "End"}
	if got := e.called(); !slices.Equal(got, want) {
		t.Errorf("continues with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A crawl that is paused for long continues as new before its history is too long, however many URLs are submitted
// meanwhile: it asks its controller, which makes no rounds, to hand over.
func TestCrawlContinuesInAPause(t *testing.T) {
	const updates, together = 3000, 10
	e := newCrawl(t, func(e *env, ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		if !in.Paused {
			workflow.GetSignalChannel(ctx, names.SignalPause).Receive(ctx, nil)
		}
		workflow.GetSignalChannel(ctx, names.SignalHandover).Receive(ctx, nil)
		e.note("hands over")
		in.Paused = true
		return ControllerResult{Reason: crawl.ReasonHandover, State: in}, nil
	})
	e.at(time.Second, func() { e.SignalWorkflow(names.SignalPause, nil) })
	var list []*submitted
	for i := range updates / together {
		e.at(time.Duration(i+2)*time.Second, func() {
			for range together {
				u := &submitted{}
				list = append(list, u)
				e.UpdateWorkflow(names.UpdateSubmit, "", u, urls(1))
			}
		})
	}
	e.at((updates+1)*time.Second, func() { e.SetContinueAsNewSuggested(true) })
	_, state := continuesAs(t, e.run(Crawl, withoutTopic, nil))
	if !state.Paused || len(list) != updates || state.Submits != updates || e.count("hands over") != 1 {
		t.Errorf("hands on %+v", state)
	}
	for i, u := range list {
		if u.result.Answers[frontier.SubmitAccepted] != 1 || u.failed != nil {
			t.Fatalf("update %d: %+v", i, u)
		}
	}
}

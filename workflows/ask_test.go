package workflows

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
)

// asked is the input of both workflows, with a queue that they cannot derive.
var asked = activities.AskInput{Crawl: "c", Queue: "muninn/w7", URL: "http://a.test/"}

// answers mocks a step, and records the queue that it was called on.
func answers[Out any](e *env, name string, do func(in activities.AskInput) (Out, error)) {
	e.OnActivity(name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in activities.AskInput) (Out, error) {
		e.note(name + " on " + activity.GetInfo(ctx).TaskQueue)
		return do(in)
	})
}

// askEnv starts workflows on the shared queue, as the command line does.
func askEnv(t *testing.T) *env {
	e := newEnv(t)
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: names.ExplainID("c"), TaskQueue: names.TaskQueue})
	return e
}

func TestExplain(t *testing.T) {
	e := askEnv(t)
	want := frontier.Explanation{URL: "http://a.test/", State: "waiting", Priority: 0.5, Before: 3, Waiting: 7, PLD: "a.test"}
	answers(e, "Explain", func(in activities.AskInput) (frontier.Explanation, error) {
		if in != asked {
			t.Errorf("asks %+v", in)
		}
		return want, nil
	})
	if err := e.run(names.Explain, asked); err != nil {
		t.Fatal(err)
	}
	var got frontier.Explanation
	if err := e.GetWorkflowResult(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if calls := e.called(); len(calls) != 1 || calls[0] != "Explain on muninn/w7" {
		t.Errorf("%v", calls)
	}
}

// TestExplainByOwner: without a queue, the worker is asked that has the URL; if it has moved meanwhile, the next one.
func TestExplainByOwner(t *testing.T) {
	e := askEnv(t)
	in := activities.AskInput{Crawl: "c", URL: "http://a.test/"}
	queues := []string{"muninn/w1", "muninn/w2"}
	does(e, "Answerer", func(activities.AskInput) (string, error) {
		return queues[e.count("Answerer")-1], nil
	})
	answers(e, "Explain", func(asked activities.AskInput) (out frontier.Explanation, err error) {
		if asked.Queue != "muninn/w2" {
			return out, temporal.NewNonRetryableApplicationError("it is another's", activities.ErrorElsewhere, nil)
		}
		return frontier.Explanation{URL: asked.URL}, nil
	})
	if err := e.run(names.Explain, in); err != nil {
		t.Fatal(err)
	}
	var got frontier.Explanation
	if err := e.GetWorkflowResult(&got); err != nil || got.URL != in.URL {
		t.Errorf("%+v, %v", got, err)
	}
	if calls := strings.Join(e.called(), ", "); calls != "Answerer, Explain on muninn/w1, Answerer, Explain on muninn/w2" {
		t.Error(calls)
	}
}

// The caller gets an answer within half a minute, also if the worker fails; at once if the error cannot be retried.
func TestExplainFails(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		within time.Duration
		calls  int
	}{
		"no URL":       {temporal.NewNonRetryableApplicationError(`"raven" is not a URL`, activities.ErrorInput, nil), time.Second, 1},
		"out of order": {errors.New("out of order"), askTimeout, 5}, // after 0, 1, 3, 7 and 15 s
	} {
		t.Run(name, func(t *testing.T) {
			e := askEnv(t)
			answers(e, "Explain", func(activities.AskInput) (frontier.Explanation, error) { return frontier.Explanation{}, c.err })
			begun := e.Now()
			err := e.run(names.Explain, asked)
			if err == nil || !strings.Contains(err.Error(), c.err.Error()) {
				t.Errorf("ends with %v, want %v", err, c.err)
			}
			if took := e.Now().Sub(begun); took > c.within || len(e.called()) != c.calls {
				t.Errorf("after %v and %d attempts", took, len(e.called()))
			}
		})
	}
}

func TestReport(t *testing.T) {
	e := askEnv(t)
	n := 0
	answers(e, "Report", func(in activities.AskInput) (activities.ReportResult, error) {
		if in != asked {
			t.Errorf("asks %+v", in)
		}
		if n++; n < 3 { // as when the archive does not answer
			return activities.ReportResult{}, errors.New("out of order")
		}
		return activities.ReportResult{Key: "c/reports/run-1.html", HTML: []byte("<p>a page")}, nil
	})
	if err := e.run(names.Report, asked); err != nil {
		t.Fatal(err)
	}
	var got activities.ReportResult
	if err := e.GetWorkflowResult(&got); err != nil || got.Key != "c/reports/run-1.html" || string(got.HTML) != "<p>a page" {
		t.Errorf("%+v, %v", got, err)
	}
	if calls := strings.Join(e.called(), ", "); calls != "Report on muninn/w7, Report on muninn/w7, Report on muninn/w7" {
		t.Errorf("%s", calls)
	}
}

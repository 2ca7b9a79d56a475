package workflows

import (
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// An aborted crawl is stopped, also if it was paused, and its worker ends the batches; a second abort changes nothing.
func TestCrawlAborts(t *testing.T) {
	e := newCrawl(t, func(e *env, ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
		workflow.GetSignalChannel(ctx, names.SignalStop).Receive(ctx, nil)
		e.note("hears stop")
		err := workflow.Sleep(ctx, time.Minute)
		return ControllerResult{Reason: crawl.ReasonAborted}, err
	})
	acts(e, "Abort", func(name string) error {
		if name != "c" {
			t.Errorf("the crawl %s is aborted", name)
		}
		return nil
	})
	e.at(time.Minute, func() { e.SignalWorkflow(names.SignalPause, nil) })
	e.at(2*time.Minute, func() { e.SignalWorkflow(names.SignalAbort, nil) })
	e.at(2*time.Minute+30*time.Second, func() {
		var s CrawlState
		value, err := e.QueryWorkflow(names.QueryStatus)
		if err == nil {
			err = value.Get(&s)
		}
		if err != nil || !s.Aborting || !s.Stopping || s.Paused {
			t.Errorf("%+v, %v", s, err)
		}
		e.SignalWorkflow(names.SignalAbort, nil)
	})
	if err := e.run(Crawl, withoutTopic, nil); err != nil {
		t.Fatalf("%v after %v", err, e.called())
	}
	var result CrawlResult
	if err := e.GetWorkflowResult(&result); err != nil || result.Reason != crawl.ReasonAborted {
		t.Errorf("%+v, %v", result, err)
	}
	got := e.called()
	if e.count("Abort") != 1 || !slices.Contains(got, "hears stop") || got[len(got)-1] != "End" {
		t.Error(got)
	}
}

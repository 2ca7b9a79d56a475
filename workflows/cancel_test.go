package workflows

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
)

// A crawl that is cancelled waits for its controller, but not for one whose worker is away.
func TestCrawlCancelled(t *testing.T) {
	const cancelled = time.Hour // after the start
	for _, tc := range []struct {
		name  string
		wait  time.Duration // CrawlState.CancelWait
		takes time.Duration // the controller, from the cancellation on
		want  time.Duration // that the crawl waits
	}{
		{"the controller ends", 0, 3 * time.Minute, 3 * time.Minute},
		{"the controller waits for batches that do not end", 0, cancelWait, cancelWait},
		{"the worker is away", 0, 24 * time.Hour, ControllerWait},
		{"the worker is away, and the crawl waits for less", time.Minute, 24 * time.Hour, time.Minute},
		{"the worker is away, and the crawl waits for more", 5 * time.Hour, 24 * time.Hour, 5 * time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newCrawl(t, func(_ *env, ctx workflow.Context, _ ControllerInput) (ControllerResult, error) {
				waiting, _ := workflow.NewDisconnectedContext(ctx)
				if err := workflow.Sleep(waiting, cancelled+tc.takes); err != nil {
					t.Error(err)
				}
				return ControllerResult{}, ctx.Err()
			})
			began := e.Now()
			e.at(cancelled, e.CancelWorkflow)
			e.at(cancelled+30*time.Second, func() {
				e.SignalWorkflow(names.SignalProgress, activities.Progress{Worker: "w", Progress: frontier.Progress{Totals: frontier.Totals{Pages: 7}}})
			})
			late := &submitted{}
			e.at(cancelled+40*time.Second, func() { e.UpdateWorkflow(names.UpdateSubmit, "", late, urls(1)) })
			err := e.run(Crawl, withoutTopic, &CrawlState{Name: "c", CancelWait: tc.wait})
			var ended *temporal.CanceledError
			if !errors.As(err, &ended) {
				t.Errorf("ends with %v, want cancelled", err)
			}
			if waited := e.Now().Sub(began) - cancelled; waited != tc.want {
				t.Errorf("it waited for %v, want %v", waited, tc.want)
			}
			if e.count("End") > 0 {
				t.Error("the run was ended")
			}
			if late.rejected == nil || !errors.Is(late.rejected, errCancelled) {
				t.Errorf("a submit to a crawl that was cancelled: %+v", late)
			}
			var s CrawlState
			if value, err := e.QueryWorkflow(names.QueryStatus); err != nil || value.Get(&s) != nil || !s.Cancelled || s.Progress.Totals.Pages != 7 {
				t.Errorf("the status is %+v, %v", s, err)
			}
		})
	}
}

package workflows

import (
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestTerminatedController: a controller that an operator terminates is started again, from where the last one handed over; another fault of it fails the crawl, as does
// a controller that is terminated in an execution of an earlier version.
func TestTerminatedController(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   error
		version workflow.Version
		starts  int
		ends    crawl.Reason // empty: the crawl fails
	}{
		{"it is terminated", &temporal.TerminatedError{}, 1, 2, crawl.ReasonDrained},
		{"it fails", temporal.NewNonRetryableApplicationError("a fault", "Fault", nil), 1, 1, ""},
		{"it is terminated, in an earlier version", &temporal.TerminatedError{}, workflow.DefaultVersion, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			starts := 0
			e := newCrawl(t, func(*env, workflow.Context, ControllerInput) (ControllerResult, error) {
				if starts++; starts == 1 {
					return ControllerResult{}, c.fault
				}
				return ControllerResult{Reason: crawl.ReasonDrained}, nil
			})
			e.OnGetVersion(versionAgain, workflow.DefaultVersion, workflow.Version(1)).Return(c.version)
			e.OnGetVersion(mock.Anything, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.Version(1))
			err := e.run(Crawl, withoutTopic, nil)
			if starts != c.starts || (err == nil) != (c.ends != "") {
				t.Fatalf("%d controllers were started; %v", starts, err)
			}
			if err == nil && crawlResult(t, e).Reason != c.ends {
				t.Errorf("%+v", crawlResult(t, e))
			}
		})
	}
}

// TestTerminatedControllerOfSpreadCrawl: the controller of one worker is terminated while it works, or while its phase ends: it is started again, and the crawl
// ends only when it has ended, with all that it has done.
func TestTerminatedControllerOfSpreadCrawl(t *testing.T) {
	for name, waiting := range map[string]int64{"in the middle": 60, "at the end": 10_000} {
		t.Run(name, func(t *testing.T) {
			r := newSpread(t, waiting, waiting)
			terminated, drained := 0, 0
			r.claiming = func(in activities.ClaimInput) error {
				if in.Worker == "w2" && terminated == 0 && (in.Drain || waiting < 100 && in.Round == 5) {
					terminated++
					return &temporal.TerminatedError{}
				}
				if in.Worker == "w2" && terminated > 0 && in.First {
					drained++
				}
				return nil
			}
			if err := r.run(Crawl, spreadCrawl(1000), nil); err != nil {
				t.Fatal(err)
			}
			if terminated != 1 || drained != 1 || r.used() != min(2*waiting, 1000) {
				t.Errorf("terminated %d times, started again %d times; %d are fetched", terminated, drained, r.used())
			}
		})
	}
}

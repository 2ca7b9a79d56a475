package workflows

import (
	"testing"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
)

// TestNoDeadlinesByClocks: no activity has to end at a point in time of the service, which the SDK compares with the clock of the worker: one whose clock is
// two minutes fast took no delivery at all.
func TestNoDeadlinesByClocks(t *testing.T) {
	env := bareEnv(t)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		for name, with := range map[string]workflow.Context{
			"members": withMembersOptions(ctx), "shared": withSharedOptions(ctx, ""), "queue": withQueueOptions(ctx, "q", ""), "claim": withClaimOptions(ctx, "q"),
			"fetch": withFetchOptions(ctx, ""), "work": withWorkOptions(ctx, ""), "deliver": withDeliverOptions(ctx, activities.Delivery{}),
			"lost": withLostOptions(ctx, "q", "w"), "serve": withServeOptions(ctx, "q", 1), "view": withViewOptions(ctx, "q"),
			"ask": withAskOptions(ctx, "q", ""), "report": withReportOptions(ctx, "q", ""),
			"derive": withDeriveOptions(ctx, "q", ""),
			"plan":   withExportPlanOptions(ctx, "q", ""), "part": withExportPartOptions(ctx, "q", ""),
		} {
			if options := workflow.GetActivityOptions(with); options.ScheduleToCloseTimeout != 0 || options.StartToCloseTimeout == 0 {
				t.Errorf("%s: from start to end %v, with the wait %v", name, options.StartToCloseTimeout, options.ScheduleToCloseTimeout)
			}
		}
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

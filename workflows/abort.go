package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// serveAbort serves the signal "abort": as "stop", and the batches end at once with what they have fetched.
func (c *crawlRun) serveAbort(ctx workflow.Context) {
	onSignal(ctx, names.SignalAbort, func(ctx workflow.Context) {
		if c.Aborting || c.checkOpen() != nil {
			return
		}
		c.writing++
		defer func() { c.writing-- }()
		c.Aborting, c.Stopping, c.Paused = true, true, false
		c.pass(ctx, names.SignalStop) // a controller that is paused would not see that the run is over
		if err := workflow.Await(ctx, c.hasBegun); err != nil || c.Phase == crawl.PhaseEnded {
			return
		}
		if err := c.onAll(ctx, "abort the crawl", steps.Abort, sameInput(c.Name), nil); err != nil {
			workflow.GetLogger(ctx).Error("the crawl is stopped, but its batches are not aborted", "crawl", c.Name, "error", err)
		}
	})
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// versionTime is the change since which a spread crawl keeps its budget of time itself; before, each worker did, from when it had begun the run.
const versionTime = "crawl-time"

// keepTime ends the phase when the time of a spread crawl is over, by the clock of Temporal and from the start of the run. No clock of a worker, and no worker that
// joins later, changes that.
func (c *crawlRun) keepTime(ctx workflow.Context) {
	if c.TimeFrom.IsZero() || workflow.GetVersion(ctx, versionTime, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	c.timed = true
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			budget := c.definition.Budget.Time
			changed := func() bool { return c.definition.Budget.Time != budget }
			if left := budget.D() - c.elapsed(ctx); left > 0 {
				if _, err := workflow.AwaitWithTimeout(ctx, left, changed); err != nil {
					return
				}
				continue
			}
			crawls := func() bool { return c.over == "" && !c.undecided && len(c.controllers()) > 0 }
			if workflow.Await(ctx, func() bool { return changed() || crawls() }) != nil {
				return
			}
			if !changed() {
				c.finish(ctx, crawl.ReasonTime)
			}
		}
	})
}

// elapsed is how long the run of a spread crawl takes so far; 0 while it has not begun.
func (c *crawlRun) elapsed(ctx workflow.Context) time.Duration {
	if c.TimeFrom.IsZero() {
		return 0
	}
	return workflow.Now(ctx).Sub(c.TimeFrom)
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// quotaAgain is how long a worker whose quota is short waits before it asks once more: others may have returned something.
const quotaAgain = 10 * time.Second

// receiveQuota takes what the worker may use of the crawl's budgets.
func (c *controller) receiveQuota(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, names.SignalQuota)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var now map[crawl.Reason]share.Allotment
			if !channel.Receive(ctx, &now) {
				return
			}
			c.Shared.Allotments, c.Shared.Asked = now, false
		}
	})
}

// noteShared notes what a round says of a crawl that is spread, and reports whether the crawl is to learn of it now: that nothing is left at
// this worker, or something is again; that its quota is short; or that it has returned what it was asked for.
func (c *controller) noteShared(ctx workflow.Context, p activities.Progress) bool {
	if p.Quotas == nil {
		return false
	}
	changed, wants := p.Empty != c.Shared.Empty, false
	for _, reason := range activities.SharedBudgets() {
		wants = wants || p.Quotas[reason].Wants
		if a := c.Shared.Allotments[reason]; a.Return && p.Quotas[reason].Number == a.Number && (c.given[reason].Return || !c.steers(ctx)) {
			a.Return, a.All = false, false
			c.Shared.Allotments[reason] = a
			changed = true
		}
	}
	c.Shared.Empty = p.Empty
	if now := workflow.Now(ctx); wants && (!c.Shared.Asked || now.Sub(c.AskedAt) >= quotaAgain) {
		c.AskedAt, changed = now, true
	}
	c.Shared.Asked = wants
	return changed
}

// steers reports whether a worker is asked again to return what it was asked for while a round was in progress, which did not know of it.
func (c *controller) steers(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, versionSteer, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

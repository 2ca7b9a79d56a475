package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"
)

// ControllerWait is how long a crawl that is cancelled waits for its controller, which waits for its batches and ends by itself.
const ControllerWait = cancelWait + time.Minute

// versionBounded marks crawls that were cancelled since they wait no longer than that.
const versionBounded = "cancelled-crawl-wait"

// awaitCancelled waits for the end of a controller that is cancelled with its crawl; its error says that the crawl ends without it.
// The controller does nothing while its worker is away, whose queue it is on. The service terminates it when the crawl ends, by
// its close policy: what it leaves is what a crawl leaves that is terminated. Its batches end by themselves when the worker is
// back, and the leases run out.
func (c *crawlRun) awaitCancelled(ctx workflow.Context) error {
	if workflow.GetVersion(ctx, versionBounded, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return nil
	}
	waiting, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	ended, err := workflow.AwaitWithTimeout(waiting, cmp.Or(c.CancelWait, ControllerWait), c.controller.IsReady)
	if err != nil || ended {
		return err
	}
	workflow.GetLogger(ctx).Warn("a crawl that was cancelled ends without its worker, which does not answer", "crawl", c.Name, "worker", c.Member.Worker)
	c.controller = nil
	workflow.SetCurrentDetails(ctx, describe(c.stateName(), c.Progress)+"\n\nIt ended without its worker `"+c.Member.Worker+"`, which did not answer: its batches end by themselves, and their leases run out.")
	return ctx.Err()
}

package workflows

import (
	"cmp"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"
)

// ControllerWait is how long a crawl that is cancelled waits for its controller, which waits for its batches and ends by itself.
const ControllerWait = cancelWait + time.Minute

// versionBounded marks crawls that were cancelled since they wait no longer than that.
const versionBounded = "cancelled-crawl-wait"

// awaitCancelled waits for the end of the controllers that are cancelled with their crawl; its error says that the crawl ends without one.
// A controller does nothing while its worker is away, whose queue it is on. The service terminates it when the crawl ends, by
// its close policy: what it leaves is what a crawl leaves that is terminated. Its batches end by themselves when the worker is
// back, and the leases run out.
func (c *crawlRun) awaitCancelled(ctx workflow.Context) error {
	if workflow.GetVersion(ctx, versionBounded, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return nil
	}
	waiting, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	ended, err := workflow.AwaitWithTimeout(waiting, cmp.Or(c.CancelWait, ControllerWait), func() bool { return len(c.silent()) == 0 })
	if err != nil || ended {
		return err
	}
	workers := strings.Join(c.silent(), ", ")
	workflow.GetLogger(ctx).Warn("a crawl that was cancelled ends without its worker, which does not answer", "crawl", c.Name, "worker", workers)
	for _, m := range c.Members {
		m.running = nil
	}
	workflow.SetCurrentDetails(ctx, describe(c.stateName(), c.Progress)+"\n\nIt ended without its worker `"+workers+"`, which did not answer: its batches end by themselves, and their leases run out.")
	return ctx.Err()
}

// silent are the workers whose controllers have not ended.
func (c *crawlRun) silent() (workers []string) {
	for _, m := range c.Members {
		if m.running != nil && !m.running.IsReady() {
			workers = append(workers, m.Worker)
		}
	}
	return workers
}

package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
)

// A crawl whose history is long continues as new once nothing is on its way that only this execution knows: URLs that are submitted, and changes
// of the definition. Until then its controllers work. Temporal ends an execution with 51,200 events or 50 MB of history: before that it waits.
const (
	mostHistory      = 40_000   // events
	mostHistoryBytes = 40 << 20 // of them
	// drainWait is how long the controllers stand still at a time for what comes while they hand over.
	drainWait = 10 * time.Second
)

// continues reports whether this execution is to end, and the next one to take its place.
func (c *crawlRun) continues(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && (!c.carriesLosses || c.writing == 0 || isTooLong(ctx))
}

func isTooLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetCurrentHistoryLength() > mostHistory || info.GetCurrentHistorySize() > mostHistoryBytes
}

// drainForNext reports whether nothing is on its way that the next execution would not know. If something is, for longer than drainWait, the
// controllers are to work meanwhile.
func (c *crawlRun) drainForNext(ctx workflow.Context) (drained bool, err error) {
	if c.carriesLosses && !isTooLong(ctx) {
		if err := drainSignals(ctx); err != nil {
			return false, err
		}
		drained, err = workflow.AwaitWithTimeout(ctx, drainWait, func() bool { return c.writing == 0 })
		if err != nil || !drained {
			return false, err
		}
	}
	return true, c.drainSubmits(ctx)
}

// oneRetires reports whether what the crawl has at a former member has not ended yet, or is not counted.
func (c *crawlRun) oneRetires() bool {
	return c.Uncounted || slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return m.Retiring })
}

// startRetiring retires a member that is gone, beside the phases. The end of the crawl is not found before that is done. An execution that continues as new
// leaves it to the next one: each of the steps may be done twice.
func (c *crawlRun) startRetiring(ctx workflow.Context, m *CrawlMember) {
	if !c.carriesLosses {
		c.writing++ // it does not continue as new before that is done
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		counted := c.retire(ctx, m)
		if m.Retiring = false; !c.carriesLosses {
			c.writing--
		}
		if counted {
			c.fold(m)
			c.finishSpent(ctx)
			c.show(ctx)
		}
	})
}

// retire ends what the crawl has at a member that is gone, and reports whether what it has done was counted: the others queue what it had archived
// and not delivered, then its workflows are terminated.
func (c *crawlRun) retire(ctx workflow.Context, m *CrawlMember) (counted bool) {
	if c.takeIn(ctx, m) != nil {
		return false // the crawl is cancelled
	}
	c.Ending.Disturb()
	of := c.folder(m.Member)
	in := activities.RetireInput{Crawl: c.Name, Holder: of, Controller: m.LastController}
	err := workflow.ExecuteActivity(withSharedOptions(ctx, "end what the crawl has at "+m.Worker), steps.Retire, in).Get(ctx, nil)
	c.Owing = slices.DeleteFunc(c.Owing, func(o Owing) bool { return of.Is(activities.Member{Worker: o.Worker, Instance: o.Instance}) }) // others have it
	return err == nil && c.countGone(ctx, m)
}

func (c *crawlRun) takeIn(ctx workflow.Context, m *CrawlMember) error {
	if !c.carriesLosses {
		return deliverLost(ctx, c.Name, m.Worker, c.queues)
	}
	return c.takeOver(ctx, m)
}

// resumeRetiring continues with what an earlier execution has left of that.
func (c *crawlRun) resumeRetiring(ctx workflow.Context) {
	for _, m := range c.Members {
		if m.Gone && m.Retiring {
			c.startRetiring(ctx, m)
		}
	}
}

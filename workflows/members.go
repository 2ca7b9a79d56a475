package workflows

import (
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// onAll runs a step at all members, side by side, and hands each result to take in the order of the members; take may be nil.
func (c *crawlRun) onAll(ctx workflow.Context, summary string, step any, input func(*CrawlMember) any, take func(workflow.Future) error) error {
	var running []workflow.Future
	for _, m := range c.Members {
		running = append(running, workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, summary), step, input(m)))
	}
	for _, f := range running {
		err := f.Get(ctx, nil)
		if err == nil && take != nil {
			err = take(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sameInput is the input of a step that is the same for all members.
func sameInput(in any) func(*CrawlMember) any { return func(*CrawlMember) any { return in } }

// collect appends the results of a step to a list.
func collect[Out any](ctx workflow.Context, list *[]Out) func(workflow.Future) error {
	return func(f workflow.Future) error {
		var out Out
		err := f.Get(ctx, &out)
		*list = append(*list, out)
		return err
	}
}

// controllerID is the workflow ID of a member's controller.
func (c *crawlRun) controllerID(m *CrawlMember) string { return names.ControllerID(c.Name, m.Worker) }

// startControllers starts the controllers of members that have none.
func (c *crawlRun) startControllers(ctx workflow.Context) {
	for _, m := range c.Members {
		if m.running != nil {
			continue
		}
		in := m.Controller
		in.Crawl, in.Worker, in.Queue, in.Instance = c.Name, m.Worker, m.Queue, m.Instance
		in.Paused, in.Stopping = c.Paused, c.Stopping
		m.running = workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			// Its activities are on this queue: those of a workflow's own queue come with the answer to the workflow task.
			TaskQueue:  m.Queue,
			WorkflowID: c.controllerID(m), StaticSummary: "keeps " + m.Worker + " busy with " + c.Name,
			WaitForCancellation: true, ParentClosePolicy: enums.PARENT_CLOSE_POLICY_TERMINATE, // see awaitCancelled
			TypedSearchAttributes: temporal.NewSearchAttributes(
				names.AttrCrawl.ValueSet(c.Name), names.AttrWorker.ValueSet(m.Worker), names.AttrState.ValueSet(string(crawl.ControllerCrawling))),
		}), names.FetcherController, in)
	}
}

// awaitControllers waits until all controllers have ended, and returns why: the reason of the first that was not asked to hand over.
// It asks them to hand over once the crawl's history is so long that it is to continue as new: whatever they do, they may be paused
// for months while URLs are submitted.
func (c *crawlRun) awaitControllers(ctx workflow.Context) (crawl.Reason, error) {
	reason, asked := crawl.ReasonHandover, false
	for len(c.controllers()) > 0 {
		if err := workflow.Await(ctx, func() bool {
			return c.oneEnded() || !asked && workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		}); err != nil {
			c.Cancelled = true // as the controllers are: their end is waited for
			c.show(ctx)
			_ = workflow.UpsertTypedSearchAttributes(ctx, names.AttrState.ValueSet(c.stateName()))
			if err := c.awaitCancelled(ctx); err != nil {
				return "", err
			}
			return c.takeResults(ctx, func(*CrawlMember) bool { return true })
		}
		if !c.oneEnded() {
			asked = true
			c.signalControllers(ctx, names.SignalHandover)
			continue
		}
		ended, err := c.takeResults(ctx, (*CrawlMember).ended)
		if err != nil {
			return "", err
		}
		if reason == crawl.ReasonHandover {
			reason = ended
		}
	}
	return reason, nil
}

// oneEnded reports whether a controller has ended whose result was not taken.
func (c *crawlRun) oneEnded() bool {
	return slices.ContainsFunc(c.Members, (*CrawlMember).ended)
}

func (m *CrawlMember) ended() bool { return m.running != nil && m.running.IsReady() }

// takeResults takes the results of some controllers, and waits for them. The reason is one that is not a hand-over, if there is one.
func (c *crawlRun) takeResults(ctx workflow.Context, of func(*CrawlMember) bool) (crawl.Reason, error) {
	reason := crawl.ReasonHandover
	for _, m := range c.Members {
		if m.running == nil || !of(m) {
			continue
		}
		var result ControllerResult
		err := m.running.Get(ctx, &result)
		if m.running = nil; c.Cancelled {
			c.show(ctx)
		}
		if err != nil {
			return "", err
		}
		m.Controller, m.Progress = result.State, result.State.Progress
		m.Progress.Holds, m.Progress.Leases = "", nil
		c.Progress = sumProgress(c.Members)
		if reason == crawl.ReasonHandover {
			reason = result.Reason
		}
	}
	return reason, nil
}

// controllers are the workflow IDs of the controllers that run.
func (c *crawlRun) controllers() (ids []string) {
	for _, m := range c.Members {
		if m.running != nil {
			ids = append(ids, c.controllerID(m))
		}
	}
	return ids
}

func (c *crawlRun) signalControllers(ctx workflow.Context, signal string) {
	for _, m := range c.Members {
		if m.running != nil {
			m.running.SignalChildWorkflow(ctx, signal, nil)
		}
	}
}

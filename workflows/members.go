package workflows

import (
	"cmp"
	"errors"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// onAll runs a step at all members that take part, side by side, and hands each result to take in the order of the members; take may be nil.
// One that the ring gives up meanwhile is left out.
func (c *crawlRun) onAll(ctx workflow.Context, summary string, step any, input func(*CrawlMember) any, take func(*CrawlMember, workflow.Future) error) error {
	type call struct {
		of *CrawlMember
		workflow.Future
		cancel workflow.CancelFunc
	}
	var running []call
	for _, m := range c.takingPart() {
		ctx, cancel := workflow.WithCancel(ctx)
		running = append(running, call{m, workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, summary), step, input(m)), cancel})
	}
	for _, f := range running {
		answered, err := awaitAnswer(ctx, f, func() bool { return f.of.Gone })
		if err != nil {
			return err
		}
		if !answered {
			f.cancel()
			continue
		}
		err = f.Get(ctx, nil)
		if err == nil && take != nil {
			err = take(f.of, f.Future)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitAnswer waits for what a worker was asked, unless it is gone by then: nobody polls its task queue any more.
func awaitAnswer(ctx workflow.Context, answer workflow.Future, gone func() bool) (answered bool, err error) {
	err = workflow.Await(ctx, func() bool { return answer.IsReady() || gone() })
	return answer.IsReady(), err
}

// takingPart are the members that know of the run; while it begins, all are asked.
func (c *crawlRun) takingPart() (list []*CrawlMember) {
	for _, m := range c.Present() {
		if !c.definition.Spread || c.Begun.Run == 0 || m.Begun {
			list = append(list, m)
		}
	}
	return list
}

// sameInput is the input of a step that is the same for all members.
func sameInput(in any) func(*CrawlMember) any { return func(*CrawlMember) any { return in } }

// collect appends the results of a step to a list.
func collect[Out any](ctx workflow.Context, list *[]Out) func(*CrawlMember, workflow.Future) error {
	return func(_ *CrawlMember, f workflow.Future) error {
		var out Out
		err := f.Get(ctx, &out)
		*list = append(*list, out)
		return err
	}
}

// controllerID is the workflow ID of a member's controller.
func (c *crawlRun) controllerID(m *CrawlMember) string {
	if c.byFolder {
		return names.FolderControllerID(c.Name, m.Worker, m.Instance)
	}
	return names.ControllerID(c.Name, m.Worker)
}

// ControllerID is that of its last one.
func (m *CrawlMember) ControllerID(crawl string) string {
	return cmp.Or(m.LastController, names.ControllerID(crawl, m.Worker))
}

// folder is what the steps are given that concern what the crawl has at a member that is gone: its data folder, or all of its worker.
func (c *crawlRun) folder(m activities.Member) activities.Holder {
	if c.byFolder {
		return activities.Holder{Worker: m.Worker, Instance: m.Instance}
	}
	return activities.Holder{Worker: m.Worker}
}

// startControllers starts the controllers of members that have none.
func (c *crawlRun) startControllers(ctx workflow.Context) {
	c.openBudgets(ctx)
	for _, m := range c.Members {
		if m.running != nil || !c.ready(m) || c.over != "" && !m.cutOff {
			continue
		}
		in := m.Controller
		in.Crawl, in.Worker, in.Queue, in.Instance = c.Name, m.Worker, m.Queue, m.Instance
		in.Paused, in.Stopping = c.Paused, c.Stopping || c.over != ""
		in.Unsent = in.Unsent || m.blocked > 0 || c.findsVacant // what it has used is not known
		m.cutOff = false
		in.Shared = c.sharedOf(m, in.Shared)
		if c.byFolder {
			m.LastController = c.controllerID(m)
		}
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

// awaitControllers keeps a controller at each member until the phase is over, and returns why it is; or ReasonHandover, if the crawl is to
// continue as new. It asks them to hand over once the crawl's history is so long: whatever they do, they may be paused for months while
// URLs are submitted.
func (c *crawlRun) awaitControllers(ctx workflow.Context) (crawl.Reason, error) {
	long := func() bool { return c.vacated || c.continues(ctx) }
	c.startControllers(ctx)
	for asked := false; ; {
		if err := workflow.Await(ctx, func() bool { return c.freed || c.oneEnded() || !asked && (long() || c.oneLacks()) }); err != nil {
			c.Cancelled = true // as the controllers are: their end is waited for
			c.show(ctx)
			_ = workflow.UpsertTypedSearchAttributes(ctx, names.AttrState.ValueSet(c.stateName()))
			if err := c.awaitCancelled(ctx); err != nil {
				return "", err
			}
			err := c.takeResults(ctx, func(*CrawlMember) bool { return true })
			return cmp.Or(c.over, crawl.ReasonHandover), err
		}
		c.freed = false
		if err := c.takeResults(ctx, (*CrawlMember).ended); err != nil {
			return "", err
		}
		if c.over != "" && c.oneCutOff() && !c.vacated {
			c.startControllers(ctx)
		}
		if !c.oneWorks() && c.vacated {
			return crawl.ReasonHandover, nil // the next execution finds again why the phase is over
		}
		if !c.oneWorks() && (c.over != "" || asked || long()) {
			return cmp.Or(c.over, crawl.ReasonHandover), nil
		}
		if !asked && long() {
			asked = true
			c.signalControllers(ctx, names.SignalHandover)
		}
		if !asked && c.over == "" {
			c.startControllers(ctx)
		}
	}
}

// ready reports whether a member can have a controller: it knows all that it has to.
func (c *crawlRun) ready(m *CrawlMember) bool {
	return !m.waits && (!c.definition.Spread || !m.Gone && m.phase == c.phase && c.lacks(m) == nil && !c.retires(m.Member))
}

// retires reports whether a former member with that data folder is not retired yet: a controller that was started before would have the ID of the former
// one, and be terminated in its place. In executions of earlier versions that holds for all folders of a worker.
func (c *crawlRun) retires(of activities.Member) bool {
	return slices.ContainsFunc(c.Members, func(m *CrawlMember) bool {
		return m.Gone && c.folder(of).Is(m.Member) && (m.Retiring || m.running != nil)
	})
}

// oneLacks reports whether a member lacks its controller.
func (c *crawlRun) oneLacks() bool {
	return c.over == "" && slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return m.running == nil && c.ready(m) })
}

// finish ends the phase: the controllers that run end when their batches have ended.
func (c *crawlRun) finish(ctx workflow.Context, reason crawl.Reason) {
	if c.over == "" {
		c.over = reason
		c.signalControllers(ctx, names.SignalStop)
	}
}

// oneEnded reports whether a controller has ended whose result was not taken.
func (c *crawlRun) oneEnded() bool {
	return slices.ContainsFunc(c.Members, (*CrawlMember).ended)
}

func (m *CrawlMember) ended() bool { return m.running != nil && m.running.IsReady() }

// takeResults takes the results of some controllers, and waits for them. A reason that is not a hand-over ends the phase.
func (c *crawlRun) takeResults(ctx workflow.Context, of func(*CrawlMember) bool) error {
	for _, m := range c.Members {
		if m.running == nil || !of(m) {
			continue
		}
		var result ControllerResult
		err := m.running.Get(ctx, &result)
		if m.running = nil; c.Cancelled {
			c.show(ctx)
		}
		if m.Gone {
			continue // it was terminated; the last numbers stay
		}
		if err != nil && c.startsAgain(ctx, m, err) {
			continue
		}
		if err != nil {
			return err
		}
		m.Controller, m.Progress = result.State, result.State.Progress
		m.Progress.Holds, m.Progress.Leases = "", nil
		c.Progress = c.sum()
		if c.recount {
			c.takeReports(ctx, m.Progress)
		}
		if result.Reason != crawl.ReasonHandover {
			m.cutOff = false
			c.finish(ctx, result.Reason)
		}
	}
	return nil
}

// versionAgain is the change since which a controller that an operator has terminated is started again; before, its crawl failed.
const versionAgain = "start-again"

// startsAgain reports whether the controller of a member has ended because an operator has terminated it. It is started again from where the last one handed over,
// as when the crawl itself is started again, also if the phase is over: batches may be in progress. In a crawl that is cancelled it is not. One that cannot be
// started, because the crawl was reset and that of its former execution runs, is started when that one has handed over.
func (c *crawlRun) startsAgain(ctx workflow.Context, m *CrawlMember, err error) bool {
	var terminated *temporal.TerminatedError
	var runs *temporal.ChildWorkflowExecutionAlreadyStartedError
	cut, blocked := errors.As(err, &terminated), errors.As(err, &runs)
	if c.Cancelled || !cut && !blocked || cut && workflow.GetVersion(ctx, versionAgain, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false
	}
	workflow.GetLogger(ctx).Warn("the controller of a crawl is started again", "crawl", c.Name, "worker", m.Worker, "why", reasonOf(err))
	if m.cutOff = true; blocked {
		c.awaitFormer(ctx, m)
	}
	return true
}

// oneCutOff reports whether a member is to have a controller again that was terminated.
func (c *crawlRun) oneCutOff() bool {
	return slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return m.cutOff && c.ready(m) })
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

// oneWorks reports whether a controller runs that ends by itself. That of a member that is gone is terminated.
func (c *crawlRun) oneWorks() bool {
	return slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return (m.running != nil || m.waits) && !(m.Gone && c.carriesLosses) })
}

func (c *crawlRun) signalControllers(ctx workflow.Context, signal string) {
	for _, m := range c.Members {
		if m.running != nil {
			m.running.SignalChildWorkflow(ctx, signal, nil)
		}
	}
}

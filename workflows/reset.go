package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
)

// resets notices that an operator has reset the execution to an earlier moment: it does not know what it has said since then, and others act on that.
type resets struct {
	run    string // of the execution; empty if nothing is to be noticed any more
	looked int    // the length of the history at the last look
	n      int
}

func newResets(ctx workflow.Context) *resets {
	info := workflow.GetInfo(ctx)
	if info.OriginalRunID == "" || info.OriginalRunID == info.WorkflowExecution.RunID {
		return &resets{}
	}
	return &resets{run: info.WorkflowExecution.RunID}
}

// count is how many resets have made the execution what it is at this moment of its history. What is replayed from before a reset has no marker of the
// change, and the first workflow task after it records one. An execution that was not reset looks for nothing.
func (r *resets) count(ctx workflow.Context) int {
	length := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	if r.run == "" || length == r.looked {
		return r.n
	}
	r.looked = length
	if workflow.GetVersion(ctx, fmt.Sprintf("reset-%d", length), workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return r.n
	}
	r.n++
	var by string
	if err := workflow.SideEffect(ctx, func(workflow.Context) any { return r.run }).Get(&by); err == nil && by == r.run {
		r.run = "" // it is not that of an execution that was reset once more
	}
	return r.n
}

// forgets is the error with which an execution ends that was reset, and that must not act on what it knows; nil if it was not. The workers start it again, as after
// a termination.
func (r *resets) forgets(ctx workflow.Context, what string) error {
	if r.count(ctx) == 0 {
		return nil
	}
	return temporal.NewNonRetryableApplicationError("it was reset, and does not know "+what+": it ends, and the workers start it again, as after a termination", activities.ErrorReset, nil)
}

// notice has do called after each reset, beside the main loop.
func (r *resets) notice(ctx workflow.Context, do func(ctx workflow.Context)) {
	if r.run == "" {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for n := 0; workflow.Await(ctx, func() bool { return r.count(ctx) > n }) == nil; do(ctx) {
			n = r.count(ctx)
		}
	})
}

// versionVacant is the change since which a crawl that was reset looks whether a controller runs at all at a member: since then it does not wait for one that has ended without
// its result, nor for the report of one that there is not.
const versionVacant = "vacant"

// replaceControllers has each member of a crawl that was reset get another controller. Temporal delivers no signal of the crawl to those that run: they are children of
// the execution before the reset. They hand over, and are started again from where they were.
func (c *crawlRun) replaceControllers(ctx workflow.Context) {
	workflow.GetLogger(ctx).Warn("the crawl was reset: its controllers are started again", "crawl", c.definition.Name)
	c.recount, c.findsVacant = true, workflow.GetVersion(ctx, versionVacant, workflow.DefaultVersion, 1) != workflow.DefaultVersion
	for _, m := range c.Members {
		if m.running != nil && !m.running.IsReady() {
			m.cutOff = true
			c.replaceController(ctx, m)
		}
	}
	_ = drainSignals(ctx) // reports that were delivered again are old
	for _, reason := range activities.SharedBudgets() {
		if b := c.Budgets[reason]; b != nil {
			b.Recount(c.accounts()...)
		}
	}
	c.findIdle(ctx)
}

// replaceController has the controller hand over that runs at a member. If there is none, as after the crawl was terminated, and with it its controllers, it is waited for no
// longer: Temporal reports the end of a child to no execution after a reset of one that had ended before. The crawl continues as new: in this execution a
// child of that ID is still to end, so that no other can be started.
func (c *crawlRun) replaceController(ctx workflow.Context, m *CrawlMember) {
	running, handover := m.running, c.endFormer(ctx, m)
	if !c.findsVacant {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		if isVacant(handover.Get(ctx, nil)) && workflow.Sleep(ctx, resultPause) == nil && m.running == running && !running.IsReady() {
			m.running, m.Controller.Unsent, c.vacated = nil, true, true
		}
	})
}

// resultPause is how long the result of a controller that has ended may be on its way.
const resultPause = 5 * time.Second

// findIdle has the budgets not wait for members that have no controller yet, as one whose Begin is tried again, unless one of an execution before the reset runs there: that one hands over, and
// the next one reports.
func (c *crawlRun) findIdle(ctx workflow.Context) {
	if !c.findsVacant || c.Budgets == nil {
		return
	}
	for _, m := range c.Present() {
		if m.running != nil || m.Account == "" {
			continue
		}
		handover := c.endFormer(ctx, m)
		workflow.Go(ctx, func(ctx workflow.Context) {
			if !isVacant(handover.Get(ctx, nil)) {
				return
			}
			for _, reason := range activities.SharedBudgets() {
				c.Budgets[reason].Idle(m.Account)
			}
		})
	}
}

// isVacant reports whether a signal has found that its workflow does not run.
func isVacant(err error) bool {
	var unknown *temporal.UnknownExternalWorkflowExecutionError
	return errors.As(err, &unknown)
}

// endFormer asks the controller that runs at a member, of an execution before a reset, to hand over.
func (c *crawlRun) endFormer(ctx workflow.Context, m *CrawlMember) workflow.Future {
	return workflow.SignalExternalWorkflow(ctx, c.controllerID(m), "", names.SignalHandover, nil)
}

// How long a crawl waits for a controller of its former execution that hands over, before it tries again to start its own: at first, and at most while its worker is away.
const (
	formerPause     = time.Second
	formerPauseMost = time.Minute
)

// awaitFormer waits until the controller may have ended that runs at a member, of an execution before a reset.
func (c *crawlRun) awaitFormer(ctx workflow.Context, m *CrawlMember) {
	m.waits, m.blocked = true, min(max(2*m.blocked, formerPause), formerPauseMost)
	workflow.Go(ctx, func(ctx workflow.Context) {
		_ = c.endFormer(ctx, m).Get(ctx, nil) // it may just have ended
		_ = workflow.Sleep(ctx, m.blocked)
		m.waits, c.freed = false, true
	})
}

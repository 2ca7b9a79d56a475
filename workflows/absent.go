package workflows

import (
	"cmp"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
)

// versionAbsent is the change since which a spread crawl gives up workers that were never its members, too; from 3 on, what it has at a worker goes by the
// data folder.
const versionAbsent = "absent-workers"

// giveUpAbsentees gives up the workers that have open batches of the crawl and are not in the ring. An earlier execution of the crawl ended before
// the ring gave them up, or while it did: nobody has taken in what they had archived. It is done before the controllers start: in executions of earlier versions
// that of another folder of the same worker has the ID of the former one.
func (c *crawlRun) giveUpAbsentees(ctx workflow.Context) error {
	if !c.takesAbsent {
		return nil
	}
	var absent []activities.Holder
	in := activities.AbsentInput{Crawl: c.Name, Ring: c.Ring}
	if c.byFolder {
		in.Since = c.Started
	}
	err := workflow.ExecuteActivity(withQueueOptions(ctx, "", "which workers that are gone have open batches?"), steps.Absent, in).Get(ctx, &absent)
	for _, h := range absent {
		c.giveUpAbsent(ctx, activities.Member{Worker: h.Worker, Instance: h.Instance})
	}
	return err
}

// giveUpAbsent gives a worker up that is not in the ring and that the crawl has not given up yet: it was lost, or left, when this execution
// began, and so was no member.
func (c *crawlRun) giveUpAbsent(ctx workflow.Context, w activities.Member) {
	h := activities.Holder{Worker: w.Worker, Instance: w.Instance}
	if slices.ContainsFunc(c.Ring, h.Is) || c.retires(w) || slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return h.Is(m.Member) }) {
		return
	}
	m := &CrawlMember{Member: w, Account: cmp.Or(w.Instance, w.Worker), Absent: true}
	c.Members = append(c.Members, m)
	c.giveUp(ctx, m)
}

// countFormer counts, beside the phases, what data folders have archived that earlier executions of the crawl have given up and counted: this one does
// not know of them. Until then no budget is found to be used up, and the crawl has not ended.
func (c *crawlRun) countFormer(ctx workflow.Context) {
	if !c.Uncounted {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		in := activities.FormerTotalsInput{Crawl: c.Name, Started: c.Started, Run: c.Begun.Run}
		for _, w := range c.Ring {
			in.Not = append(in.Not, activities.Holder{Worker: w.Worker, Instance: w.Instance})
		}
		for _, m := range c.Members {
			if m.Gone {
				in.Not = append(in.Not, activities.Holder{Worker: m.Worker, Instance: m.Instance})
			}
		}
		var former []activities.FormerTotals
		err := workflow.ExecuteActivity(withQueueOptions(ctx, "", "count what workers have archived that have left before"), steps.FormerTotals, in).Get(ctx, &former)
		if err != nil || workflow.Await(ctx, func() bool { return c.Budgets != nil }) != nil {
			return // the crawl is cancelled
		}
		for _, f := range former {
			c.addFormer(ctx, f)
		}
		c.Uncounted = false
		c.Progress = c.sum()
		c.finishSpent(ctx)
		c.show(ctx)
	})
}

// addFormer adds a folder that is gone and counted, unless it is here by now.
func (c *crawlRun) addFormer(ctx workflow.Context, f activities.FormerTotals) {
	if slices.ContainsFunc(c.Ring, f.Is) || slices.ContainsFunc(c.Members, func(m *CrawlMember) bool { return f.Is(m.Member) }) {
		return
	}
	m := &CrawlMember{Member: activities.Member{Worker: f.Worker, Instance: f.Instance}, Account: cmp.Or(f.Instance, f.Worker), Absent: true, Gone: true, Counted: true}
	m.Progress.Worker, m.Progress.Totals, m.Progress.At = f.Worker, lostTotals(f.Totals, frontier.Totals{}), workflow.Now(ctx)
	c.Members = append(c.Members, m)
	for _, reason := range activities.SharedBudgets() {
		c.Budgets[reason].Absent(m.Account, activities.Used(reason, f.Totals))
	}
	c.fold(m)
}

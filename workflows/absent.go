package workflows

import (
	"cmp"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
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

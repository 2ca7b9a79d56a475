package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Owing is a batch that delivers what it has found after its claims are given back. Nobody but the crawl knows then that something is on its
// way: the crawl has not ended before.
type Owing struct {
	Batch             string `json:"batch"`
	activities.Holder        // that has it
	Done              bool   `json:"done,omitempty"` // all is delivered
}

// owe has the batch be committed before it delivers, and says so to its crawl first.
func (b *batch) owe(ctx workflow.Context, d activities.DeliverInput) error {
	b.stale = &d
	if err := b.sayOwing(ctx, false); err != nil {
		return err
	}
	b.in.Delivered = append(b.in.Delivered, d.Partitions...)
	return nil
}

// sayOwing sends the crawl word. A crawl that is gone does not matter: then only cancelling ends the wait.
func (b *batch) sayOwing(ctx workflow.Context, done bool) error {
	o := Owing{b.in.Batch, b.in.Holder, done}
	err := workflow.SignalExternalWorkflow(ctx, names.CrawlID(b.in.Crawl), "", names.SignalOwes, o).Get(ctx, nil)
	if err != nil && ctx.Err() == nil {
		workflow.GetLogger(ctx).Warn("the crawl does not know of links that are to be delivered", "crawl", b.in.Crawl, "batch", b.in.Batch, "error", err)
	}
	return ctx.Err()
}

// deliverStale delivers what the batch has left to deliver when it is committed.
func (b *batch) deliverStale(ctx workflow.Context) error {
	if b.stale == nil {
		return nil
	}
	for pause := deliverPause; ; pause = min(2*pause, deliverPauseMost) {
		var left activities.UndeliveredResult
		in := activities.RouteInput{BatchInput: b.in, Left: *b.stale}
		err := workflow.ExecuteLocalActivity(withLocalOptions(ctx, "see who takes what is to be delivered"), steps.Route, in).Get(ctx, &left)
		if err != nil {
			return err
		}
		before := len(b.in.Delivered)
		_, _, why, err := b.deliverTo(ctx, left.To)
		if err != nil {
			return err
		}
		taken := b.in.Delivered[before:]
		b.stale.Partitions = slices.DeleteFunc(b.stale.Partitions, func(p int) bool { return slices.Contains(taken, p) })
		if len(b.stale.Partitions) == 0 || len(left.To) == 0 && left.Waits == 0 {
			if err := b.sayOwing(ctx, true); err != nil {
				return err
			}
			b.stale = nil
			return nil
		}
		b.state(ctx, crawl.BatchFetching, strings.TrimSuffix(fmt.Sprintf("it is committed; links to %d partitions wait until other workers take them: %s", len(b.stale.Partitions), why), ": "))
		if err := workflow.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// receiveOwing takes what batches say of what they have left to deliver. What Temporal hands over after the worker of a batch was given up does not
// count: the batch is terminated, and others deliver what it had left.
func (c *crawlRun) receiveOwing(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, names.SignalOwes)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var o Owing
			if !channel.Receive(ctx, &o) {
				return
			}
			c.Owing = slices.DeleteFunc(c.Owing, func(was Owing) bool { return was.Batch == o.Batch })
			if !o.Done && !c.givenUp(o.Holder) {
				c.Owing = append(c.Owing, o)
			}
			c.Ending.Disturb()
		}
	})
}

// givenUp reports whether the ring has given a data folder up, and it has not joined again.
func (c *crawlRun) givenUp(by activities.Holder) bool {
	is := func(m *CrawlMember) bool {
		return m.Worker == by.Worker && (by.Instance == "" || m.Instance == by.Instance)
	}
	return slices.ContainsFunc(c.Members, is) && !slices.ContainsFunc(c.Present(), is)
}

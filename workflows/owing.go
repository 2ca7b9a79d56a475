package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Owing is what a batch of an earlier version says to its crawl that delivers what it has found after it is committed: the crawl has not ended
// before. Of others the frontier of their worker knows, see frontier.Owing.
type Owing struct {
	Batch             string `json:"batch"`
	activities.Holder        // that has it
	Done              bool   `json:"done,omitempty"` // all is delivered
}

// owe has the batch be committed before this is delivered.
func (b *batch) owe(ctx workflow.Context, d activities.DeliverInput) error {
	if b.owed != nil { // partitions that became others' since the last time
		d.Partitions = append(d.Partitions, b.owed.Partitions...)
	}
	b.owed = &d
	if !owesAtOnce(ctx) {
		b.said = true
		if err := b.sayOwing(ctx, false); err != nil {
			return err
		}
	}
	b.in.Delivered, b.in.Owes = append(b.in.Delivered, d.Partitions...), true
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

// owingWait is how long a batch that is cancelled while it delivers what it has left does so still. The ring gives a silent owner up by then, and a
// partition that is handed over may have cancelled the batch just before its commit.
const owingWait = 15 * time.Minute

// deliverOwed delivers what the batch has left to deliver when it is committed. One that was cancelled before, as when its partition is handed
// over, loses nothing: it takes as long as that takes.
func (b *batch) deliverOwed(ctx workflow.Context) error {
	if ctx.Err() == nil {
		err := b.deliverLeft(ctx)
		if ctx.Err() == nil || b.owed == nil {
			return err
		}
		b.until = workflow.Now(ctx).Add(owingWait)
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	return b.deliverLeft(ctx)
}

// resume delivers what an earlier execution of the batch has left, and ends as that would have.
func (b *batch) resume(ctx workflow.Context) error {
	owed := b.in.Owed
	b.in.Owed, b.owed, b.until, b.failed, b.out, b.said = nil, &owed.Left, owed.Until, owed.Failed, owed.Result, !owed.Unsaid
	err := b.deliverOwed(ctx)
	if workflow.IsContinueAsNewError(err) {
		return err
	}
	if err == nil && b.failed != "" {
		err = temporal.NewApplicationError(b.failed, "BatchFailed")
	}
	if err != nil {
		b.state(ctx, crawl.BatchFailed, reasonOf(err))
		return err
	}
	b.state(ctx, crawl.BatchDone, b.summary())
	return nil
}

// deliverLeft is deliverOwed until it is cancelled.
func (b *batch) deliverLeft(ctx workflow.Context) error {
	if b.owed == nil {
		return nil
	}
	lost := 0 // partitions
	for pause := deliverPause; ; pause = min(2*pause, deliverPauseMost) {
		if !b.until.IsZero() && !workflow.Now(ctx).Before(b.until) {
			lost, b.owed.Partitions = len(b.owed.Partitions), nil
		}
		var left activities.UndeliveredResult
		in := activities.RouteInput{BatchInput: b.in, Left: *b.owed}
		err := workflow.ExecuteLocalActivity(withLocalOptions(ctx, "see who takes what is to be delivered"), steps.Route, in).Get(ctx, &left)
		if err != nil {
			return err
		}
		if len(left.To) == 0 && left.Waits == 0 {
			if b.said {
				if err := b.sayOwing(ctx, true); err != nil {
					return err
				}
			}
			if b.owed = nil; lost > 0 {
				return temporal.NewApplicationError(fmt.Sprintf("it is committed, but links to %d partitions are lost: it was cancelled, and no worker has taken them within %s", lost, owingWait), "LinksLost")
			}
			if b.failed != "" {
				b.state(ctx, crawl.BatchFailed, b.failed)
			}
			return nil
		}
		before := len(b.in.Delivered)
		_, rest, why, err := b.deliverTo(ctx, left.To)
		taken := b.in.Delivered[before:]
		b.owed.Partitions = slices.DeleteFunc(b.owed.Partitions, func(p int) bool { return slices.Contains(taken, p) })
		if err != nil {
			return err
		}
		if rest == 0 && left.Waits == 0 {
			continue // the worker is to know that nothing waits any more
		}
		details := strings.TrimSuffix(fmt.Sprintf("it is committed; links to %d partitions wait until other workers take them: %s", len(b.owed.Partitions), why), ": ")
		if workflow.SetCurrentDetails(ctx, details); b.said {
			b.state(ctx, crawl.BatchFetching, details)
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			next := b.in
			next.Owed = &activities.Owed{Left: *b.owed, Until: b.until, Failed: b.failed, Result: b.out, Unsaid: !b.said}
			return workflow.NewContinueAsNewError(ctx, names.Batch, next)
		}
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
	is := func(m *CrawlMember) bool { return by.Is(m.Member) }
	return slices.ContainsFunc(c.Members, is) && !slices.ContainsFunc(c.Present(), is)
}

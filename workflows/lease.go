package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// How a batch waits for leases that it asks for itself.
const (
	// askAgain is after how long it asks again: the shard that was asked may have been terminated.
	askAgain = time.Minute
	// leaseWait is how long it waits for the leases of a shard. Then it fetches under those that it has, and gives the other
	// URLs back: it must not hold addresses forever while others hold those that it waits for.
	leaseWait = 30 * time.Minute
)

// shardsFault is the error of a worker whose setting politeness-shards differs from the number of shards that run.
func shardsFault(fault string) error {
	return temporal.NewNonRetryableApplicationError(fault, activities.ErrorShards, nil)
}

// lease asks for the leases that the batch lacks, which it does only if it is run again.
func (b *batch) lease(ctx workflow.Context, asks []politeness.Ask) error {
	if len(asks) == 0 {
		return nil
	}
	b.state(ctx, crawl.BatchWaiting, fmt.Sprintf("asks for the leases of %d addresses again", len(asks)))
	grants := workflow.GetSignalChannel(ctx, names.SignalGrants)
	for grants.ReceiveAsync(nil) { // a reset gives a batch the grants of its former life again
	}
	byShard := map[int][]politeness.Ask{}
	for _, ask := range asks {
		n := activities.Shard(ask.IP, b.in.Shards)
		byShard[n] = append(byShard[n], ask)
	}
	for n := range max(b.in.Shards, 1) { // in order: batches that are reset together must not wait for each other
		if err := b.leaseOf(ctx, activities.AskLeasesInput{Crawl: b.in.Crawl, Shard: n, Asks: byShard[n]}, grants); err != nil {
			return err
		}
	}
	return nil
}

// leaseOf asks one shard and waits until it has granted everything.
func (b *batch) leaseOf(ctx workflow.Context, in activities.AskLeasesInput, grants workflow.ReceiveChannel) error {
	in.Reply = workflow.GetInfo(ctx).WorkflowExecution.ID
	until := workflow.Now(ctx).Add(leaseWait)
	for len(in.Asks) > 0 {
		in.Withdraw = !workflow.Now(ctx).Before(until)
		summary := fmt.Sprintf("ask for %d leases", len(in.Asks))
		if in.Withdraw {
			summary = fmt.Sprintf("continue without %d leases", len(in.Asks))
		}
		if err := workflow.ExecuteActivity(withQueueOptions(ctx, "", summary), steps.AskLeases, in).Get(ctx, nil); err != nil || in.Withdraw {
			return err
		}
		for again := workflow.Now(ctx).Add(askAgain); len(in.Asks) > 0; {
			came, err := workflow.AwaitWithTimeout(ctx, again.Sub(workflow.Now(ctx)), func() bool { return grants.Len() > 0 })
			if err != nil {
				return err
			}
			if !came {
				break
			}
			var a politeness.Answer
			grants.ReceiveAsync(&a)
			if a.Fault != "" {
				return shardsFault(a.Fault)
			}
			if err := b.granted(ctx, a.Grants); err != nil {
				return err
			}
			in.Asks = slices.DeleteFunc(in.Asks, func(ask politeness.Ask) bool {
				return slices.ContainsFunc(a.Grants, func(g politeness.Grant) bool { return g.Lease == ask.Lease })
			})
		}
	}
	return nil
}

// granted takes leases over. It is no local activity: those do not know Temporal's time, by which leases go.
func (b *batch) granted(ctx workflow.Context, grants []politeness.Grant) error {
	if len(grants) == 0 {
		return nil
	}
	in := activities.LeaseInput{BatchInput: b.in, Grants: grants}
	return workflow.ExecuteActivity(withQueueOptions(ctx, "", fmt.Sprintf("take %d leases", len(grants))), steps.Lease, in).Get(ctx, nil)
}

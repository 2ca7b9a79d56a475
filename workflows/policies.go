package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
)

// The ways in which activities are run, by kind of work. None but local ones has a ScheduleToCloseTimeout: Temporal's SDK ends such an activity at a point in
// time of the service, by the clock of the worker. One whose clock is fast by as much would end it before it begins.
const (
	heartbeatTimeout = 10 * time.Second
	fetchTimeout     = 2 * time.Hour  // a whole batch, however slow its hosts are
	workTimeout      = time.Hour      // parsing, scoring and archiving a batch
	walkTimeout      = 24 * time.Hour // steps that may walk through the whole archive; heartbeats show that they live
	shortTimeout     = time.Minute
	claimTimeout     = 2 * time.Minute
)

// withSharedOptions is for activities that any worker may run.
func withSharedOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

// withQueueOptions is for steps on a worker's own queue: most are short, some walk through the archive. An empty queue is that of
// the workflow.
func withQueueOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: walkTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

// withClaimOptions is for the claim activity, which waits.
func withClaimOptions(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: claimTimeout, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: retryForever(),
	})
}

// withFetchOptions is for FETCH. Temporal retries the steps of a batch until they fail for good themselves: an attempt that a kill
// or an outage cut off does not count.
func withFetchOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: fetchTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withWorkOptions is for the steps that compute and store: AAH, SCORE and ARCHIVE.
func withWorkOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withDeliverOptions is for a delivery to another worker, on its queue. If it does not take it in time, somebody else may be the owner by then: a
// worker that has left polls its queue no more.
func withDeliverOptions(ctx workflow.Context, d activities.Delivery) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: d.Queue, ScheduleToStartTimeout: deliverStart, StartToCloseTimeout: deliverTimeout, HeartbeatTimeout: heartbeatTimeout,
		Summary: fmt.Sprintf("deliver links to %d partitions of worker %s", len(d.Partitions), d.Owner), RetryPolicy: retryAtMost(deliverAttempts),
	})
}

// withLostOptions is for a worker that takes in what a lost one has left.
func withLostOptions(ctx workflow.Context, queue, worker string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToStartTimeout: lostTimeout, StartToCloseTimeout: lostTimeout, HeartbeatTimeout: heartbeatTimeout,
		Summary: "take in what " + worker + " has found", RetryPolicy: retryAtMost(lostAttempts),
	})
}

// withTakeOverOptions is for a worker that takes in what a lost one has left, and waits for partitions.
func withTakeOverOptions(ctx workflow.Context, queue, worker string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout,
		Summary: "take in what " + worker + " has found", RetryPolicy: retryAtMost(lostTries),
	})
}

// localForever bounds the attempts of a local step together. Without a bound of their own, Temporal's SDK takes that of one attempt for it.
const localForever = 10 * 365 * 24 * time.Hour

// withLocalOptions is for short steps within the workflow task, on the worker that has the frontier.
func withLocalOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: shortTimeout, ScheduleToCloseTimeout: localForever, Summary: summary, RetryPolicy: retryForever(),
	})
}

// retryForever has no last attempt: the result must not be lost.
func retryForever() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
}

func retryAtMost(attempts int32) *temporal.RetryPolicy {
	p := retryForever()
	p.MaximumAttempts = attempts
	return p
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The ways in which activities are run, by kind of work.
const (
	heartbeatTimeout = 10 * time.Second
	fetchTimeout     = 2 * time.Hour  // a whole batch, however slow its hosts are
	workTimeout      = time.Hour      // parsing, scoring and archiving a batch
	walkTimeout      = 24 * time.Hour // steps that may walk through the whole archive; heartbeats show that they live
	shortTimeout     = time.Minute
	claimTimeout     = 2 * time.Minute
)

// withSharedOptions runs on whichever worker takes it.
func withSharedOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

// withQueueOptions runs steps on a worker's own queue: most are short, some walk through the archive.
func withQueueOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: walkTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

// withClaimOptions runs the claim activity, which waits.
func withClaimOptions(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: claimTimeout, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: retryForever(),
	})
}

// withFetchOptions runs FETCH. Steps of a batch are tried until they say themselves that they give up: what a kill or an outage
// cuts off does not count.
func withFetchOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: fetchTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withWorkOptions runs the steps that compute and store: AAH, SCORE and ARCHIVE.
func withWorkOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withLocalOptions runs short steps within the workflow task, on the worker that has the frontier.
func withLocalOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: retryForever(),
	})
}

// retryForever tries forever: what it guards must not be lost.
func retryForever() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
}

func retryAtMost(attempts int32) *temporal.RetryPolicy {
	p := retryForever()
	p.MaximumAttempts = attempts
	return p
}

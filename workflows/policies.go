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

// shared runs on whichever worker takes it.
func shared(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// on runs steps on a worker's own queue: most are short, some walk through the archive.
func on(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: walkTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// claiming runs the claim activity, which waits.
func claiming(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: claimTimeout, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: patient(),
	})
}

// fetching runs FETCH. Steps of a batch are tried until they say themselves that they give up: what a kill or an outage
// cuts off does not count.
func fetching(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: fetchTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: patient(),
	})
}

// working runs the steps that compute and store: AAH, SCORE and ARCHIVE.
func working(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: patient(),
	})
}

// local runs short steps within the workflow task, on the worker that has the frontier.
func local(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// patient tries forever: what it guards must not be lost.
func patient() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
}

func bounded(attempts int32) *temporal.RetryPolicy {
	p := patient()
	p.MaximumAttempts = attempts
	return p
}

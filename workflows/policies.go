package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The ways in which activities are run, by kind of work.
const (
	heartbeatTimeout = 10 * time.Second
	fetchTimeout     = 2 * time.Hour    // a whole batch, however slow its hosts are
	workTimeout      = 30 * time.Minute // parsing, scoring and archiving a batch
	shortTimeout     = time.Minute
	claimTimeout     = 2 * time.Minute

	fetchAttempts = 50 // of which a worker's end cuts some off
	stepAttempts  = 8  // if the worker does not say otherwise: some two minutes
)

// shared runs on whichever worker takes it.
func shared(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// on runs short steps on a worker's own queue.
func on(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// claiming runs the claim activity, which waits.
func claiming(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: claimTimeout, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: patient(),
	})
}

// fetching runs FETCH: attempts that the worker's end cuts off are made up for, so there are many.
func fetching(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: fetchTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: bounded(fetchAttempts),
	})
}

// working runs the steps that compute and store.
func working(ctx workflow.Context, attempts int, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: workTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary,
		WaitForCancellation: true, RetryPolicy: bounded(int32(cmp.Or(attempts, stepAttempts))),
	})
}

// local runs short steps within the workflow task, on the worker that has the frontier.
func local(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: shortTimeout, Summary: summary, RetryPolicy: patient(),
	})
}

// patient tries for ever: what it guards must not be lost.
func patient() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
}

func bounded(attempts int32) *temporal.RetryPolicy {
	p := patient()
	p.MaximumAttempts = attempts
	return p
}

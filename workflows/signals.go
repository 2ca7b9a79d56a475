package workflows

import "go.temporal.io/sdk/workflow"

// onSignal calls do for each signal of a name, beside the main loop.
func onSignal(ctx workflow.Context, signal string, do func(ctx workflow.Context)) {
	channel := workflow.GetSignalChannel(ctx, signal)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for channel.Receive(ctx, nil) {
			do(ctx)
		}
	})
}

// drainSignals lets the coroutines beside the main loop run once more. It is called right before an execution ends:
// the main loop runs first, and a signal that came together with what ends it would be lost.
func drainSignals(ctx workflow.Context) error {
	last := false
	workflow.Go(ctx, func(workflow.Context) { last = true })
	return workflow.Await(ctx, func() bool { return last })
}

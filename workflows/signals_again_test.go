package workflows

import (
	"runtime"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// signalsAgain repeats signals to children that have just continued as new. The test environment has a nil pointer then (SDK v1.50.0, signalHandler of the new
// execution), until a goroutine has begun that execution; Temporal itself keeps such a signal for it.
type signalsAgain struct {
	interceptor.WorkerInterceptorBase
}

func (*signalsAgain) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &signalsAgainIn{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type signalsAgainIn struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (i *signalsAgainIn) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&signalsAgainOut{interceptor.WorkflowOutboundInterceptorBase{Next: out}})
}

type signalsAgainOut struct {
	interceptor.WorkflowOutboundInterceptorBase
}

func (o *signalsAgainOut) SignalChildWorkflow(ctx workflow.Context, id, name string, arg any) workflow.Future {
	for {
		if sent := o.signal(ctx, id, name, arg); sent != nil {
			return sent
		}
		_ = workflow.Sleep(ctx, time.Millisecond)
	}
}

// signal returns nil if the child's execution has not begun.
func (o *signalsAgainOut) signal(ctx workflow.Context, id, name string, arg any) (sent workflow.Future) {
	defer func() {
		if fault := recover(); fault != nil {
			if _, is := fault.(runtime.Error); !is {
				panic(fault)
			}
		}
	}()
	return o.Next.SignalChildWorkflow(ctx, id, name, arg)
}

// TestSignalOfContinued: a workflow may signal a child at the moment in which that continues as new.
func TestSignalOfContinued(t *testing.T) {
	t.Parallel()
	const rounds = 20
	e := bareEnv(t)
	child := func(ctx workflow.Context, round int) error {
		parent := workflow.GetInfo(ctx).ParentWorkflowExecution.ID
		_ = workflow.SignalExternalWorkflow(ctx, parent, "", "up", round).Get(ctx, nil)
		if round == rounds {
			return workflow.Sleep(ctx, time.Second)
		}
		return workflow.NewContinueAsNewError(ctx, "child", round+1)
	}
	parent := func(ctx workflow.Context) error {
		running := workflow.ExecuteChildWorkflow(ctx, "child", 1)
		for round := 0; round < rounds; {
			workflow.GetSignalChannel(ctx, "up").Receive(ctx, &round)
			_ = running.SignalChildWorkflow(ctx, "down", round).Get(ctx, nil)
		}
		return running.Get(ctx, nil)
	}
	e.RegisterWorkflowWithOptions(child, workflow.RegisterOptions{Name: "child"})
	e.RegisterWorkflowWithOptions(parent, workflow.RegisterOptions{Name: "parent"})
	if err := e.run("parent"); err != nil {
		t.Error(err)
	}
}

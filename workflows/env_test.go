package workflows

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// idle is how long a workflow under test may do nothing before it counts as stuck. Time that it sleeps is
// skipped.
const idle = 2 * time.Minute

func quiet() log.Logger {
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// env is a test environment with the workflows. It records the calls of steps and the signals that were
// sent.
type env struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T

	left atomic.Bool // URLs wait, says the frontier

	mu    sync.Mutex
	calls []string
	sent  []sent
}

type sent struct {
	to, signal string
	arg        any
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := bareEnv(t)
	Register(e)
	return e
}

// bareEnv is one without workflows.
func bareEnv(t *testing.T) *env {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	e := &env{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	activities.Register(e, &activities.Activities{})
	e.SetTestTimeout(idle)
	e.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: idle, // a second by default, which a busy machine takes
		Interceptors:             []interceptor.WorkerInterceptor{&signalsAgain{}},
	})
	e.SetStartTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	return e
}

// note notes a call.
func (e *env) note(call string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, call)
}

// called lists the calls so far.
func (e *env) called() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

func (e *env) count(call string) int {
	n := 0
	for _, c := range e.called() {
		if c == call {
			n++
		}
	}
	return n
}

// does mocks a step with a result.
func does[In, Out any](e *env, name string, do func(in In) (Out, error)) {
	e.OnActivity(name, mock.Anything, mock.Anything).Return(func(_ context.Context, in In) (Out, error) {
		e.note(name)
		return do(in)
	})
}

// acts mocks a step without a result.
func acts[In any](e *env, name string, do func(in In) error) {
	e.OnActivity(name, mock.Anything, mock.Anything).Return(func(_ context.Context, in In) error {
		e.note(name)
		return do(in)
	})
}

// signals records the signals that the workflow sends to others; answer may be nil.
func (e *env) signals(answer func(s sent) error) {
	e.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(
		func(_, to, _, signal string, arg any) error {
			s := sent{to, signal, arg}
			e.mu.Lock()
			e.sent = append(e.sent, s)
			e.mu.Unlock()
			if answer == nil {
				return nil
			}
			return answer(s)
		})
}

// at does something at a time after the start.
func (e *env) at(after time.Duration, do func()) { e.RegisterDelayedCallback(do, after) }

// run runs a workflow to its end and returns the error that it ended with. It logs the stack of a panic, of the workflow or of an activity.
func (e *env) run(workflow any, args ...any) error {
	e.t.Helper()
	e.ExecuteWorkflow(workflow, args...)
	if !e.IsWorkflowCompleted() {
		e.t.Fatal("the workflow has not ended")
	}
	err := e.GetWorkflowError()
	if panicked := (*temporal.PanicError)(nil); errors.As(err, &panicked) {
		e.t.Logf("%v\n%s", panicked, panicked.StackTrace())
	}
	return err
}

func (e *env) granted(s politeness.Answer) func() {
	return func() { e.SignalWorkflow(names.SignalGrants, s) }
}

// continued decodes the inputs that an execution which continues as new gives to the next one.
func continued(t *testing.T, err error, inputs ...any) *workflow.ContinueAsNewError {
	t.Helper()
	var next *workflow.ContinueAsNewError
	if !errors.As(err, &next) {
		t.Fatalf("ends with %v, want to continue as new", err)
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, inputs...); err != nil {
		t.Fatal(err)
	}
	return next
}

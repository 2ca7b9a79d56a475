package activities

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestStepsAreRegistered: each exported method of Activities is a step under its own name, by which workflows call it, and no
// other function is registered.
func TestStepsAreRegistered(t *testing.T) {
	a := &Activities{}
	steps, kind := a.steps(), reflect.TypeOf(a)
	for i := range kind.NumMethod() {
		name := kind.Method(i).Name
		s, known := steps[name]
		if !known {
			t.Errorf("%s is exported and no step", name)
			continue
		}
		got := reflect.ValueOf(s.do)
		if want := reflect.ValueOf(a).Method(i); got.Type() != want.Type() {
			t.Errorf("%s runs a function of type %v", name, got.Type())
		}
		delete(steps, name)
		if (s.exclusive || s.tries != "") && got.Type().In(1) != reflect.TypeFor[BatchInput]() {
			t.Errorf("%s is of a batch, and its input is %v", name, got.Type().In(1))
		}
		if s.tries != "" && !s.exclusive {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for name := range steps {
		t.Errorf("%s is a step and no exported method", name)
	}
}

// TestErrorsOfSteps: a step returns errors of its domain, and Temporal gets them with their type.
func TestErrorsOfSteps(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		step, in any
		kind     string
	}{
		"input": {r.Explain, AskInput{Crawl: "unknown", URL: "http://a.example/"}, ErrorInput},
		"names": {r.Phase, PhaseInput{Crawl: "../x"}, ErrorInput},
		"spool": {r.Process, BatchInput{Crawl: rigCrawl, Batch: "a.example-1"}, ErrorSpool},
	} {
		r.begin("o", nil)
		err := r.do(c.step, c.in)
		var made *temporal.ApplicationError
		if !errors.As(err, &made) || made.Type() != c.kind || !made.NonRetryable() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEdgeOnce: an error of Temporal's SDK is not changed.
func TestEdgeOnce(t *testing.T) {
	once := toApplicationError(&crawl.InputError{Message: "no such thing"})
	if twice := toApplicationError(once); !errors.Is(twice, once) || twice.Error() != once.Error() {
		t.Errorf("%v", twice)
	}
}

// TestHeartbeat: an activity has a heartbeat from its start, with the details that it gives.
func TestHeartbeat(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	var asked atomic.Int64
	done := make(chan struct{})
	step := func(ctx context.Context) error {
		ctx, stop := startHeartbeat(ctx)
		defer stop()
		heartbeatWith(ctx, func() any {
			if asked.Add(1) == 1 {
				close(done)
			}
			return 7
		})
		select {
		case <-done:
			return nil
		case <-time.After(2 * time.Minute):
			return errors.New("no heartbeat")
		}
	}
	env.RegisterActivity(step)
	if _, err := env.ExecuteActivity(step); err != nil {
		t.Error(err)
	}
	heartbeatWith(t.Context(), func() any { t.Error("a beat without a heart"); return nil })
}

// TestAlone: a step of a batch stops the step of the batch that still runs, and waits for its end. Other batches do not wait.
func TestAlone(t *testing.T) {
	var a exclusiveSteps
	first, leave, _ := a.enter(t.Context(), "c/b-1")
	_, leaveOther, _ := a.enter(t.Context(), "c/b-2")
	leaveOther()
	given, giveUp := context.WithCancel(t.Context())
	abandoned := make(chan error, 1)
	go func() { // an attempt that is given up while it waits
		_, _, err := a.enter(given, "c/b-1")
		abandoned <- err
	}()
	<-first.Done()
	giveUp()
	if err := <-abandoned; !errors.Is(err, context.Canceled) {
		t.Errorf("it enters: %v", err)
	}
	if _, _, err := a.enter(given, "c/b-3"); !errors.Is(err, context.Canceled) || len(a.running) != 1 {
		t.Errorf("it enters: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		second, leave, err := a.enter(t.Context(), "c/b-1")
		if err != nil {
			t.Error(err)
			return
		}
		defer leave()
		if second.Err() != nil {
			t.Error("the second step is cancelled")
		}
	}()
	<-first.Done()
	select {
	case <-ended:
		t.Error("the second step did not wait")
	default:
	}
	leave()
	<-ended
	if len(a.running) != 0 {
		t.Errorf("%d are kept", len(a.running))
	}
}

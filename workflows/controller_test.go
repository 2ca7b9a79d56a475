package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

const controllerID = "crawl/c/fetchers/w"

var controllerInput = ControllerInput{Crawl: "c", Worker: "w", Queue: "q/w", Instance: "i"}

// newController is a controller whose rounds of claims are answered by claim; what it starts is noted as
// "start " and the leases.
// pages is the progress of a run of so many pages.
func pages(n int64) activities.Progress {
	return activities.Progress{Progress: frontier.Progress{Totals: frontier.Totals{Pages: n}}}
}

func newController(t *testing.T, claim func(e *env, in activities.ClaimInput) (activities.ClaimResult, error)) *env {
	e := newEnv(t)
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: controllerID, TaskQueue: names.TaskQueue})
	e.OnActivity("Claim", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Crawl != "c" || in.Reply != controllerID || in.Holder != (activities.Holder{Worker: "w", Instance: "i"}) {
			t.Errorf("claims %+v", in)
		}
		drain := ""
		if in.Drain {
			drain = " drain"
		}
		if in.Paused {
			drain = " hold"
		}
		e.note(fmt.Sprintf("claim %d%s", in.Round, drain))
		if in.Paused {
			return activities.ClaimResult{Idle: true, Drained: true}, nil
		}
		return claim(e, in)
	})
	e.OnActivity("Start", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.StartInput) (int, error) {
		if in.Holder != (activities.Holder{Worker: "w", Instance: "i"}) {
			t.Errorf("starts %+v", in)
		}
		var leases []string
		for _, g := range in.Grants {
			leases = append(leases, g.Lease)
		}
		e.note("start " + strings.Join(leases, " "))
		return len(leases), nil
	})
	e.signals(nil)
	return e
}

// answer is what a shard says to a round.
func answer(shard int, round int64, leases ...string) politeness.Answer {
	s := politeness.Answer{Shard: shard, Round: round}
	for _, lease := range leases {
		s.Grants = append(s.Grants, politeness.Grant{Lease: lease})
	}
	return s
}

func (e *env) expectCalls(want ...string) {
	e.t.Helper()
	if got := e.called(); !slices.Equal(got, want) {
		e.t.Errorf("calls\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func controllerResult(t *testing.T, e *env) ControllerResult {
	t.Helper()
	var out ControllerResult
	if err := e.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A round ends when every shard has answered it, also if some answer twice. Answers to other rounds do not count,
// but their grants are started.
func TestControllerAwaitsAnswers(t *testing.T) {
	confirm := frontier.Confirmed{Releases: []politeness.Key{{Lease: "x", Number: 1}}, Renewed: []politeness.Key{{Lease: "y", Number: 2}}}
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == 1 {
			e.granted(answer(0, 1, "a"))()
			return activities.ClaimResult{Sent: 2, Confirm: confirm}, nil
		}
		if !slices.Equal(in.Confirm.Releases, confirm.Releases) || !slices.Equal(in.Confirm.Renewed, confirm.Renewed) {
			t.Errorf("round 2 confirms %+v, want %+v", in.Confirm, confirm)
		}
		return activities.ClaimResult{Drained: true, Progress: pages(9)}, nil
	})
	// Each comes when what the one before granted has been started, whatever time that takes: while a step runs the clock is the real one.
	next := []func(){e.granted(answer(0, 1, "b")), e.granted(answer(1, 0, "c")), func() {
		e.at(answerWait/2, func() {
			if e.count("claim 2") > 0 {
				t.Error("the next round began before shard 1 had answered")
			}
			e.granted(answer(1, 1))()
		})
	}}
	e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == "Start" && len(next) > 0 {
			next[0]()
			next = next[1:]
		}
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	e.expectCalls("claim 1", "start a", "start b", "start c", "claim 2")
	if out := controllerResult(t, e); out.Reason != "drained" || out.State.Progress.Totals.Pages != 9 {
		t.Errorf("ends with %+v", out)
	}
}

// What a shard answers busy is reported to the frontier with the next round, also if the answer came late, or the execution continues as new
// in between.
func TestControllerPassesBusyOn(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		busy := answer(0, in.Round)
		busy.Busy = []string{fmt.Sprint("x", in.Round)}
		switch in.Round {
		case 1:
			e.granted(busy)()
			return activities.ClaimResult{Sent: 1}, nil
		case 2:
			if !slices.Equal(in.Confirm.Busy, []string{"x1"}) {
				t.Errorf("round 2 is given %+v", in.Confirm)
			}
			e.granted(busy)() // to no round that waits for it
			return activities.ClaimResult{Drained: true}, nil
		}
		return activities.ClaimResult{}, nil
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	if out := controllerResult(t, e); !slices.Equal(out.State.Confirm.Busy, []string{"x2"}) {
		t.Errorf("ends with %+v", out.State.Confirm)
	}
}

// A renewal that a shard refuses is reported to the frontier at once, and not confirmed, even if another shard does not answer: its
// lane must end.
func TestControllerPassesRefusalsOn(t *testing.T) {
	x, y, z := politeness.Key{Lease: "x", Number: 1}, politeness.Key{Lease: "y", Number: 2}, politeness.Key{Lease: "z", Number: 3}
	for _, tc := range []struct {
		name string
		sent int
		want frontier.Confirmed
	}{
		{"all shards answer", 1, frontier.Confirmed{Releases: []politeness.Key{x}, Renewed: []politeness.Key{y}, Refused: []politeness.Key{z}}},
		{"a shard does not answer", 2, frontier.Confirmed{Refused: []politeness.Key{z}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got frontier.Confirmed
			e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
				if in.Round == 1 {
					a := answer(0, 1)
					a.Refused = []politeness.Key{z}
					e.granted(a)()
					return activities.ClaimResult{Sent: tc.sent, Confirm: frontier.Confirmed{Releases: []politeness.Key{x}, Renewed: []politeness.Key{y, z}}}, nil
				}
				got = in.Confirm
				return activities.ClaimResult{Drained: true}, nil
			})
			if err := e.run(FetcherController, controllerInput); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Releases, tc.want.Releases) || !slices.Equal(got.Renewed, tc.want.Renewed) || !slices.Equal(got.Refused, tc.want.Refused) {
				t.Errorf("round 2 confirms %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The first round of a controller reports the leases that the frontier knows to the shards; later rounds need not.
func TestControllerReportsWhatIsKnown(t *testing.T) {
	for _, tc := range []struct {
		before string // the execution that it continues
		want   []bool
	}{{"", []bool{true, false}}, {"run", []bool{false, false}}} {
		var first []bool
		e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
			first = append(first, in.First)
			return activities.ClaimResult{Drained: len(first) == 2}, nil
		})
		e.SetContinuedExecutionRunID(tc.before)
		in := controllerInput
		in.Round = 7
		if err := e.run(FetcherController, in); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first, tc.want) {
			t.Errorf("after %q: first %v, want %v", tc.before, first, tc.want)
		}
	}
}

// The state of a controller has what its claims wait for, from the last answer of each shard.
func TestControllerReportsWhatItWaitsFor(t *testing.T) {
	until := time.Date(2026, 7, 1, 12, 15, 0, 0, time.UTC)
	var waits []string
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == 1 {
			for shard := range 2 {
				a := answer(shard, 1)
				a.Waiting = &politeness.Waiting{Asks: 2, IP: fmt.Sprintf("10.0.0.%d", shard), By: "old/w", Until: until}
				e.granted(a)()
			}
			return activities.ClaimResult{Sent: 2}, nil
		}
		asked := make(chan struct{})
		e.at(0, func() { // an activity stands beside the workflow, whose state is for its own loop alone
			defer close(asked)
			value, err := e.QueryWorkflow(names.QueryStatus)
			var p activities.Progress
			if err != nil || value.Get(&p) != nil {
				t.Errorf("the status is %+v, %v", p, err)
			}
			waits = append(waits, fmt.Sprint(p.Leases))
		})
		<-asked
		e.granted(answer(0, 0, "a"))()
		e.granted(answer(1, 0, "b"))()
		return activities.ClaimResult{Drained: in.Round == 3}, nil
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	want := []string{"4 claims wait for leases; 10.0.0.0, for the first of them, is held by old/w, until 2026-07-01 12:15:00 UTC at the latest", "<nil>"}
	if !slices.Equal(waits, want) {
		t.Errorf("got %q, want %q", waits, want)
	}
}

// A controller whose worker has another number of shards ends with an error that says so.
func TestControllerOfAnotherNumberOfShards(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		a := answer(0, in.Round)
		a.Fault = "politeness has 4 shards"
		e.granted(a)()
		return activities.ClaimResult{Sent: 1}, nil
	})
	var fault *temporal.ApplicationError
	if err := e.run(FetcherController, controllerInput); !errors.As(err, &fault) || fault.Type() != activities.ErrorShards {
		t.Errorf("ends with %v", err)
	}
}

// The result of a claim has what shards answered at once. The controller does not wait for these answers, passes refusals on, and
// starts grants that were not started yet.
func TestControllerTakesAnswersOfTheClaim(t *testing.T) {
	x := politeness.Key{Lease: "x", Number: 1}
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == 1 {
			a := answer(1, 1, "late")
			a.Refused = []politeness.Key{x}
			return activities.ClaimResult{Answers: []politeness.Answer{answer(0, 1), a}, Confirm: frontier.Confirmed{Renewed: []politeness.Key{x}}}, nil
		}
		if !slices.Equal(in.Confirm.Refused, []politeness.Key{x}) || len(in.Confirm.Renewed) > 0 {
			t.Errorf("confirms %+v", in.Confirm)
		}
		return activities.ClaimResult{Drained: true}, nil
	})
	begun := e.Now()
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	if took := e.Now().Sub(begun); took > answerWait/2 {
		t.Errorf("it waited %s for answers that it had", took)
	}
	e.expectCalls("claim 1", "start late", "claim 2")
}

// A shard that never answers delays a round by a minute; releases and renewals that were sent to it are not confirmed.
func TestControllerContinuesWithoutAnswer(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == 1 {
			return activities.ClaimResult{Sent: 1, Confirm: frontier.Confirmed{Releases: []politeness.Key{{Lease: "x"}}}}, nil
		}
		if len(in.Confirm.Releases) > 0 {
			t.Errorf("round %d confirms %+v", in.Round, in.Confirm)
		}
		return activities.ClaimResult{Drained: true}, nil
	})
	begun := e.Now()
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	if took := e.Now().Sub(begun); took < answerWait || took > 2*answerWait {
		t.Errorf("it took %s", took)
	}
}

// While a claim waits, grants for earlier rounds are started.
func TestControllerStartsWhileItClaims(t *testing.T) {
	started := make(chan struct{})
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		e.SignalWorkflow(names.SignalGrants, answer(0, 0, "late"))
		select {
		case <-started:
		case <-time.After(idle):
			t.Error("the grant was not started while the claim waited")
		}
		return activities.ClaimResult{Spent: "pages"}, nil
	})
	e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == "Start" {
			close(started)
		}
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	e.expectCalls("claim 1", "start late")
	if out := controllerResult(t, e); out.Reason != "pages" {
		t.Errorf("ends because of %q, want the budget of pages", out.Reason)
	}
}

// A round that is sent twice is granted twice; a claim in both grants is started once.
func TestControllerStartsAGrantOnce(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		e.granted(answer(0, 0, "a", "b"))()
		e.granted(answer(0, in.Round, "a", "b", "b"))()
		return activities.ClaimResult{Sent: 1, Drained: true}, nil
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	if n := e.count("start a b"); n == 0 || strings.Contains(strings.Join(e.called(), "\n"), "a b a") || strings.Contains(strings.Join(e.called(), "\n"), "b b") {
		t.Errorf("calls %q", e.called())
	}
}

func TestControllerPauses(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == 1 {
			e.SignalWorkflow(names.SignalPause, nil)
			return activities.ClaimResult{}, nil
		}
		return activities.ClaimResult{Drained: true}, nil
	})
	e.at(time.Minute, func() {
		e.note("a minute")
		e.SignalWorkflow(names.SignalGrants, answer(0, 0, "a"))
	})
	e.at(time.Hour, func() {
		value, err := e.QueryWorkflow(names.QueryStatus)
		var p activities.Progress
		if err != nil || value.Get(&p) != nil || p.State != "paused" || p.Worker != "w" {
			t.Errorf("the status is %+v, %v", p, err)
		}
		e.note("an hour")
		e.SignalWorkflow(names.SignalResume, nil)
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	e.expectCalls("claim 1", "claim 2 hold", "a minute", "start a", "claim 3 hold", "an hour", "claim 4")
}

// A stop ends a pause; the controller claims nothing more and waits for the running batches.
func TestControllerStops(t *testing.T) {
	e := newController(t, func(_ *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round < 4 {
			return activities.ClaimResult{}, nil
		}
		return activities.ClaimResult{Spent: "stopped"}, nil
	})
	e.at(time.Minute, func() { e.SignalWorkflow(names.SignalStop, nil) })
	in := controllerInput
	in.Paused = true
	if err := e.run(FetcherController, in); err != nil {
		t.Fatal(err)
	}
	e.expectCalls("claim 1 hold", "claim 2 drain", "claim 3 drain", "claim 4 drain")
	if out := controllerResult(t, e); out.Reason != "stopped" || !out.State.Stopping || out.State.Paused {
		t.Errorf("ends with %+v", out)
	}
}

// A cancelled controller claims nothing more, waits for the running batches so that leases are released, and then ends as
// cancelled; its crawl knows its last state.
func TestControllerCancelled(t *testing.T) {
	for name, claim := range map[string]activities.ClaimResult{
		"waiting for an answer": {Sent: 1},
		"paused":                {},
	} {
		t.Run(name, func(t *testing.T) {
			cancelled := int64(0) // the last round before
			e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
				if !in.Drain {
					if cancelled = in.Round; claim.Sent == 0 {
						e.SignalWorkflow(names.SignalPause, nil)
					}
					return claim, nil
				}
				if in.Round < cancelled+3 {
					e.at(0, e.granted(answer(0, in.Round, fmt.Sprint(in.Round))))
					return activities.ClaimResult{Sent: 1}, nil
				}
				return activities.ClaimResult{Spent: "stopped", Progress: pages(7)}, nil
			})
			e.at(answerWait/2, e.CancelWorkflow)
			err := e.run(FetcherController, controllerInput)
			var ended *temporal.CanceledError
			if !errors.As(err, &ended) {
				t.Errorf("ends with %v, want cancelled", err)
			}
			want := []string{"claim 2 drain", "start 2", "claim 3 drain", "start 3", "claim 4 drain"}
			if claim.Sent == 0 { // a round that held
				want = []string{"claim 3 drain", "start 3", "claim 4 drain"}
			}
			if calls := e.called(); len(calls) < len(want) || !slices.Equal(calls[len(calls)-len(want):], want) {
				t.Errorf("calls %q, want %q in the end", calls, want)
			}
			value, err := e.QueryWorkflow(names.QueryStatus)
			var p activities.Progress
			if err != nil || value.Get(&p) != nil || p.State != "cancelled" || p.Totals.Pages != 7 {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// A cancelled controller waits a bounded time for batches that do not end.
func TestControllerCancelledWithoutEnd(t *testing.T) {
	e := newController(t, func(*env, activities.ClaimInput) (activities.ClaimResult, error) {
		return activities.ClaimResult{Sent: 1}, nil // and no shard answers
	})
	began := e.Now()
	e.at(time.Minute, e.CancelWorkflow)
	err := e.run(FetcherController, controllerInput)
	var ended *temporal.CanceledError
	if waited := e.Now().Sub(began); !errors.As(err, &ended) || waited < cancelWait || waited > cancelWait+2*time.Minute {
		t.Errorf("ends after %v with %v", waited, err)
	}
}

// handedOn decodes the input that a controller gives to its next execution.
func handedOn(t *testing.T, err error) (in ControllerInput) {
	t.Helper()
	continued(t, err, &in)
	return in
}

// After a number of rounds the controller continues as new with all of its state; messages that came at
// the last moment are not lost.
func TestControllerContinues(t *testing.T) {
	var started atomic.Bool
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		out := activities.ClaimResult{Progress: pages(in.Round), Confirm: frontier.Confirmed{Releases: []politeness.Key{{Number: in.Round}}}}
		if in.Round == 50+controllerRounds {
			e.SignalWorkflow(names.SignalGrants, answer(0, 0, "a"))
		}
		return out, nil
	})
	e.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "Start" && !started.Swap(true) { // while the last batches are being started
			e.SignalWorkflow(names.SignalGrants, answer(0, 0, "b"))
			e.SignalWorkflow(names.SignalPause, nil)
		}
	})
	in := controllerInput
	in.Round = 50
	next := handedOn(t, e.run(FetcherController, in))
	if next.Round != 50+controllerRounds || !next.Paused || next.Progress.Totals.Pages != 50+controllerRounds ||
		!slices.Equal(next.Confirm.Releases, []politeness.Key{{Number: 50 + controllerRounds}}) {
		t.Errorf("hands on %+v", next)
	}
	if calls := e.called(); len(calls) != controllerRounds+2 || calls[len(calls)-2] != "start a" || calls[len(calls)-1] != "start b" {
		t.Errorf("%d calls, the last %v, want start a and start b", len(calls), calls[max(0, len(calls)-3):])
	}
}

// A signal that comes together with the end of an execution's last round is handled.
func TestControllerHearsToTheEnd(t *testing.T) {
	e := newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		if in.Round == controllerRounds {
			e.SignalWorkflowSkippingWorkflowTask(names.SignalPause, nil)
		}
		return activities.ClaimResult{}, nil
	})
	if next := handedOn(t, e.run(FetcherController, controllerInput)); !next.Paused {
		t.Error("the pause is lost")
	}
}

// The controller ends when its crawl asks it to hand over, whatever it does.
func TestControllerHandsOver(t *testing.T) {
	for name, in := range map[string]struct {
		paused bool
		rounds int
	}{"at work": {false, 1}, "paused, with nothing in progress": {true, 1}, "in its last round": {false, controllerRounds}} {
		t.Run(name, func(t *testing.T) {
			e := newController(t, func(e *env, c activities.ClaimInput) (activities.ClaimResult, error) {
				if c.Round == int64(in.rounds) && !in.paused {
					e.SignalWorkflowSkippingWorkflowTask(names.SignalHandover, nil)
				}
				return activities.ClaimResult{Idle: in.paused, Progress: pages(c.Round)}, nil
			})
			if in.paused {
				e.at(30*24*time.Hour, func() { e.SignalWorkflow(names.SignalHandover, nil) })
			}
			start := controllerInput
			start.Paused = in.paused
			if err := e.run(FetcherController, start); err != nil {
				t.Fatal(err)
			}
			out := controllerResult(t, e)
			if out.Reason != crawl.ReasonHandover || out.State.Round > int64(in.rounds)+1 || out.State.Paused != in.paused {
				t.Errorf("ends with %+v", out)
			}
		})
	}
}

package activities

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

// ringRig is a process in a ring of its own, which owns everything.
func ringRig(t *testing.T) (*Activities, *mocks.Client, *ring.State, RingMember) {
	t.Helper()
	temporal, member := &mocks.Client{}, RingMember{"w", "p"}
	a := &Activities{Client: temporal, Membership: NewMembership("w", "p")}
	state := ring.New(ring.DefaultLimits())
	answer := state.Register(time.Now(), ring.Registration{Name: "w", Instance: "i", Process: "p", Queue: "q", Shards: 1})
	if !answer.Accepted {
		t.Fatal(answer.Reason)
	}
	a.Membership.Registered(time.Now().Add(-time.Hour), answer) // its permit has run out
	return a, temporal, state, member
}

func runRing(t *testing.T, a *Activities, step, in any) error {
	t.Helper()
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	Register(env, a)
	_, err := env.ExecuteActivity(step, in)
	return err
}

func (a *Activities) mayClaim() (may bool) {
	a.Membership.With(func(m *ring.Membership) { may = m.May(time.Now(), ring.Claim, 7) })
	return may
}

// TestServe: a worker that has a view may claim once a heartbeat was answered; a heartbeat that fails is tried again, and the membership
// ends when Temporal has given it up.
func TestServe(t *testing.T) {
	a, client, state, member := ringRig(t)
	a.Membership.With(func(m *ring.Membership) { m.Take(time.Now(), state.View("w")) })
	if a.mayClaim() {
		t.Error("it may claim without a permit")
	}
	fails := client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(errors.New("no network")).Once()
	answered := client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(nil).Once().NotBefore(fails)
	may := false
	client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, []byte, ...any) error {
		may = a.mayClaim()
		return serviceerror.NewNotFound("the activity is over")
	}).Once().NotBefore(answered)
	if err := runRing(t, a, a.Serve, ServeInput{member, state.Epoch(), time.Millisecond}); err == nil || !strings.Contains(err.Error(), "the activity is over") {
		t.Errorf("it ends with %v", err)
	}
	if !may {
		t.Error("it may not claim after a heartbeat was answered")
	}
}

// TestServeStops: a process that stops ends its heartbeat at once, however long it is until the next one.
func TestServeStops(t *testing.T) {
	a, client, state, member := ringRig(t)
	client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, []byte, ...any) error {
		a.Membership.Stop()
		return nil
	}).Once()
	if err := runRing(t, a, a.Serve, ServeInput{member, state.Epoch(), time.Hour}); err == nil || !strings.Contains(err.Error(), "the worker stops") {
		t.Errorf("it ends with %v", err)
	}
}

// TestTakeView: a worker takes the view that Cluster has, and not one from before the change that it was called for.
func TestTakeView(t *testing.T) {
	a, client, state, member := ringRig(t)
	value := &mocks.Value{}
	value.On("Get", mock.Anything).Return(func(into any) error {
		*into.(*ring.View) = *state.View("w")
		return nil
	})
	client.On("QueryWorkflow", mock.Anything, names.ClusterID, "", names.QueryView, "w").Return(value, nil)
	if err := runRing(t, a, a.TakeView, ViewInput{member, state.Epoch() + 1}); err == nil {
		t.Error("it takes a view that is too old")
	}
	if err := runRing(t, a, a.TakeView, ViewInput{member, state.Epoch()}); err != nil {
		t.Error(err)
	}
	a.Membership.With(func(m *ring.Membership) {
		if m.Epoch() != state.Epoch() {
			t.Errorf("it has the view of epoch %d, not %d", m.Epoch(), state.Epoch())
		}
	})
}

// TestProcessIsGone: what is for a former process of the worker, or for one that is in no ring, fails and is not tried again.
func TestProcessIsGone(t *testing.T) {
	a, _, _, _ := ringRig(t)
	for _, a := range []*Activities{a, {}} {
		gone := RingMember{"w", "former"}
		for _, err := range []error{runRing(t, a, a.Serve, ServeInput{gone, 1, time.Second}), runRing(t, a, a.TakeView, ViewInput{gone, 1})} {
			var made *temporal.ApplicationError
			if !errors.As(err, &made) || made.Type() != ErrorProcess || !made.NonRetryable() {
				t.Errorf("%v", err)
			}
		}
	}
}

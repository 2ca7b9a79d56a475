package activities

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/internal/ring"
)

// ringRig is a process in a ring of its own, which owns everything.
func ringRig(t *testing.T) (*Activities, *mocks.Client, *ring.State, RingMember) {
	t.Helper()
	temporal, member := &mocks.Client{}, RingMember{"w", "p"}
	a := &Activities{Client: temporal, Membership: NewMembership("w", "p"), Now: time.Now}
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

// mayClaim reports what the membership says of one partition.
func (a *Activities) mayClaim() (may bool) {
	a.Membership.With(func(m *ring.Membership) { may = m.May(time.Now(), ring.Claim, 7) })
	return may
}

// TestLostMembership: a membership is lost before its first registration, when its heartbeat ends, and when none is answered for too long.
func TestLostMembership(t *testing.T) {
	now := time.Now()
	accepted := func(m *Membership) {
		m.Registered(now, ring.Answer{Accepted: true, Epoch: 1, Limits: ring.DefaultLimits()})
	}
	waits := func(m *Membership) { m.Registered(now, ring.Answer{Wait: time.Second}) }
	for _, test := range []struct {
		name  string
		what  []func(m *Membership) // has happened
		after time.Duration
		lost  bool
	}{
		{"never registered", nil, 0, true},
		{"it has to wait", []func(*Membership){waits}, 0, true},
		{"accepted", []func(*Membership){accepted}, ring.DefaultHeartbeat / 2, false},
		{"silent", []func(*Membership){accepted}, ring.DefaultHeartbeat, true},
		{"its heartbeat has ended", []func(*Membership){accepted, (*Membership).end}, 0, true},
		{"its heartbeat has ended, and it has to wait", []func(*Membership){accepted, (*Membership).end, waits}, 0, true},
		{"accepted again", []func(*Membership){accepted, (*Membership).end, accepted}, 0, false},
	} {
		m := NewMembership("w", "p")
		for _, do := range test.what {
			do(m)
		}
		if lost := m.Lost(now.Add(test.after)); lost != test.lost {
			t.Errorf("%s: lost %v", test.name, lost)
		}
	}
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

// TestTenuresNeedPermit: a worker whose permit has run out says of no partition that it owns it: the ring may have given it up since its last view.
func TestTenuresNeedPermit(t *testing.T) {
	a, _, state, _ := ringRig(t)
	a.Membership.Take(state.View("w"))
	if owned := a.Membership.Tenures(); len(owned) > 0 {
		t.Errorf("without a permit it owns %d partitions", len(owned))
	}
	a.Membership.With(func(m *ring.Membership) { m.Heard(time.Now(), m.Since()) })
	if owned := a.Membership.Tenures(); len(owned) != ring.Partitions {
		t.Errorf("with a permit it owns %d partitions", len(owned))
	}
}

package activities

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestAwaitMembers: a crawl is answered when the workers of the ring are others than it knows, but not by a worker whose view is older than what the
// crawl knows: that would take a change back.
func TestAwaitMembers(t *testing.T) {
	state, now := ring.New(ring.DefaultLimits()), time.Now()
	a := &Activities{Membership: NewMembership("w", "p-w")}
	join := func(name string) (*ring.View, []Member) {
		answer := state.Register(now, ring.Registration{Name: name, Instance: "i-" + name, Process: "p-" + name, Queue: "q-" + name, Shards: 1})
		if !answer.Accepted {
			t.Fatal(answer.Reason)
		}
		if name == "w" {
			a.Membership.Registered(now, answer)
		}
		return state.View("w"), membersOf(state.View("w"))
	}
	before, one := join("w")
	after, two := join("v")
	for _, c := range []struct {
		name  string
		view  *ring.View // of the worker that is asked
		known MembersInput
		want  []Member // nil: it is waited for another view
	}{
		{"a crawl begins", before, MembersInput{}, one},
		{"nothing has changed", before, MembersInput{Known: one, Epoch: before.Epoch}, nil},
		{"the worker is behind", before, MembersInput{Known: two, Epoch: after.Epoch}, nil},
		{"an earlier version asks", before, MembersInput{Known: two}, one},
		{"a worker has joined", after, MembersInput{Known: one, Epoch: before.Epoch}, two},
	} {
		a.Membership.Take(c.view)
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		stopped := make(chan struct{})
		close(stopped) // so that it ends where it would wait
		env.SetWorkerStopChannel(stopped)
		env.RegisterActivity(a.AwaitMembers)
		c.known.Crawl = "c"
		value, err := env.ExecuteActivity(a.AwaitMembers, c.known)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: it is answered", c.name)
			}
			continue
		}
		var out MembersResult
		if err == nil {
			err = value.Get(&out)
		}
		if err != nil || !reflect.DeepEqual(out, MembersResult{c.want, c.view.Epoch}) {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
	}
}

// TestMembersOfEarlierVersion: what an earlier version has answered is the list alone.
func TestMembersOfEarlierVersion(t *testing.T) {
	want := []Member{{Worker: "w", Queue: "q"}}
	text, err := json.Marshal(want)
	var former, now, broken MembersResult
	err = errors.Join(err, json.Unmarshal(text, &former))
	text, marshal := json.Marshal(MembersResult{want, 7})
	if err = errors.Join(err, marshal, json.Unmarshal(text, &now)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(former, MembersResult{want, 0}) || !reflect.DeepEqual(now, MembersResult{want, 7}) || json.Unmarshal([]byte(`7`), &broken) == nil {
		t.Errorf("%+v, %+v", former, now)
	}
}

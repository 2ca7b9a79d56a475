package activities

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
)

// A claim that was granted twice is bound once, to one batch: a batch with two lanes of one claim would use two connections to a
// host at once.
func TestBindTakesAClaimOnce(t *testing.T) {
	a := &Activities{Settings: Settings{Worker: "w", BundlePLDs: 64, BundleURLs: 500}}
	claims := map[string]frontier.Claim{"old-1": {ID: "old-1", Batch: "was-7"}, "new-2": {ID: "new-2"}, "new-3": {ID: "new-3"}}
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	grant := func(lease string, deadline time.Time) politeness.Grant {
		return politeness.Grant{Lease: lease, IP: "10.0.0.1", Number: deadline.Unix(), Deadline: deadline}
	}
	bound := a.bind(3, []politeness.Grant{
		grant("old-1", early), grant("new-2", late), grant("new-3", early),
		grant("new-3", late), grant("new-2", early), grant("old-1", late),
	}, politeness.Clock{Ahead: politeness.Margin, Least: politeness.Margin}, func(lease string) (frontier.Claim, bool) { c, known := claims[lease]; return c, known })
	want := map[string][]string{"was-7": {"old-1"}, "new-2@w.3": {"new-2", "new-3"}}
	if len(bound) != len(want) {
		t.Errorf("%d batches, want %d: %+v", len(bound), len(want), bound)
	}
	for batch, leases := range want {
		var got []string
		for _, g := range bound[batch] {
			got = append(got, g.Lease)
			if !g.Deadline.Equal(late) {
				t.Errorf("%s lasts until %v, the later grant until %v", g.Lease, g.Deadline, late)
			}
		}
		if !slices.Equal(got, leases) {
			t.Errorf("batch %s has %q, want %q", batch, got, leases)
		}
	}
}

// TestRestartedNames: a batch that runs out is started again under the name that it has, and as this data folder's. An earlier version
// named batches without their workers.
func TestRestartedNames(t *testing.T) {
	for _, former := range []bool{false, true} {
		r := newRig(t)
		r.begin("one", nil)
		if former {
			r.Settings.Worker = ""
		}
		in := r.batch()
		r.Settings.Worker = "w"
		want := "crawl/c/a.example/" + strings.TrimPrefix(in.Claims[0].ID, "a.example-")
		if !former {
			want += "@w.0"
		}
		temporal := &mocks.Client{}
		var options client.StartWorkflowOptions
		var input BatchInput
		temporal.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
			options, input = args.Get(1).(client.StartWorkflowOptions), args.Get(3).(BatchInput)
		}).Return(nil, nil)
		r.Client = temporal
		r.must(r.restart(t.Context(), rigCrawl, in.Batch))
		if options.ID != want || input.Batch != in.Batch || input.Holder != r.holder() {
			t.Errorf("started as %q with %+v, want %q", options.ID, input, want)
		}
	}
}

// TestBatchNamesHaveTheEpoch: a batch is named after the epoch of the ring that its worker knows: none before it has a view, and the last one
// after it has lost its membership.
func TestBatchNamesHaveTheEpoch(t *testing.T) {
	r, now := newRig(t), time.Now()
	r.Membership = NewMembership("w", "p")
	state := ring.New(ring.DefaultLimits())
	register := func(name, process string) {
		answer := state.Register(now, ring.Registration{Name: name, Instance: name, Process: process, Queue: name, Shards: 1})
		if name == "w" {
			r.Membership.Registered(now, answer)
		}
	}
	name := func() string {
		unknown := func(string) (frontier.Claim, bool) { return frontier.Claim{}, false }
		for batch := range r.bind(r.Membership.Epoch(), []politeness.Grant{{Lease: "a.example-1"}}, politeness.Clock{}, unknown) {
			return batch
		}
		return ""
	}
	before := name()
	register("w", "p")
	r.Membership.Take(state.View("w"))
	first := name()
	state.Lost(now, "w", "p")
	register("w", "p") // the view of the former membership is void, and the new one has not come yet
	if between := name(); before != "a.example-1@w.0" || first != "a.example-1@w.1" || between != first {
		t.Errorf("batches are named %s, %s, %s", before, first, between)
	}
	if r.Membership.Take(state.View("w")); name() != "a.example-1@w.3" {
		t.Errorf("with a new view a batch is named %s", name())
	}
}

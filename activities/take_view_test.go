package activities

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

// TestTakeView: a worker takes the view that Cluster has, and not one from before the change that it was called for.
func TestTakeView(t *testing.T) {
	for _, test := range []struct {
		name  string
		after uint64 // epochs after the present one, that it is called for
		fault error  // of the query
		taken bool
	}{
		{"the view is of that epoch", 0, nil, true},
		{"the view is of an earlier one", 1, nil, false},
		{"Cluster does not answer", 0, errors.New("no network"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, client, state, member := ringRig(t)
			value := &mocks.Value{}
			value.On("Get", mock.Anything).Return(func(into any) error {
				*into.(*ring.View) = *state.View("w")
				return nil
			})
			client.On("QueryWorkflow", mock.Anything, names.ClusterID, "", names.QueryView, "w").Return(value, test.fault)
			if err := runRing(t, a, a.TakeView, ViewInput{member, state.Epoch() + test.after}); (err == nil) != test.taken {
				t.Error(err)
			}
			want := uint64(0)
			if test.taken {
				want = state.Epoch()
			}
			a.Membership.With(func(m *ring.Membership) {
				if m.Epoch() != want {
					t.Errorf("it has the view of epoch %d, want %d", m.Epoch(), want)
				}
			})
		})
	}
}

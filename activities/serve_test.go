package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestServe: a worker that has a view may claim once a heartbeat was answered. A heartbeat that fails is tried again; the membership ends
// when Temporal has given it up, and at once when the process stops, however long it is until the next heartbeat.
func TestServe(t *testing.T) {
	answered, stops := error(nil), errors.New("the process stops and the heartbeat is answered")
	for _, test := range []struct {
		name    string
		every   time.Duration
		answers []error // of Temporal to the heartbeats
		may     []bool  // whether the worker may claim when a heartbeat is sent
		ends    string
	}{
		{"Temporal has given it up", time.Millisecond, []error{answered, serviceerror.NewNotFound("it is over")}, []bool{false, true}, "it is over"},
		{"Temporal cancels it", time.Millisecond, []error{temporal.NewCanceledError()}, []bool{false}, "cancel"},
		{"one is not answered", time.Millisecond, []error{errors.New("no network"), answered, serviceerror.NewNotFound("it is over")}, []bool{false, false, true}, "it is over"},
		{"the process stops", time.Hour, []error{stops}, []bool{false}, "the worker stops"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, client, state, member := ringRig(t)
			a.Membership.With(func(m *ring.Membership) { m.Take(time.Now(), state.View("w")) })
			var may []bool
			client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, []byte, ...any) error {
				may = append(may, a.mayClaim())
				answer := test.answers[len(may)-1]
				if errors.Is(answer, stops) {
					a.Membership.Stop()
					return nil
				}
				return answer
			}).Times(len(test.answers))
			err := runRing(t, a, a.Serve, ServeInput{member, state.Epoch(), test.every})
			if err == nil || !strings.Contains(err.Error(), test.ends) {
				t.Errorf("it ends with %v, want %q", err, test.ends)
			}
			if !slices.Equal(may, test.may) {
				t.Errorf("it may claim at its heartbeats: %v, want %v", may, test.may)
			}
			if !a.Membership.Lost(time.Now()) {
				t.Error("the end of the membership is not noted")
			}
		})
	}
}

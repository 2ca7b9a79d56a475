package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
)

// TestStuckProcess: a process that does no work sends no heartbeat, whether its probe fails or does not come back; it is asked once at a
// time, and continues when it works again.
func TestStuckProcess(t *testing.T) {
	for name, hang := range map[string]bool{"it hangs": true, "it fails": false} {
		a, client, state, member := ringRig(t)
		works := make(chan struct{})
		var calls, under atomic.Int32
		a.Probe = func() error {
			if under.Add(1) > 1 {
				t.Errorf("%s: it is asked while it has not answered", name)
			}
			defer under.Add(-1)
			if calls.Add(1) == 1 {
				go func() {
					time.Sleep(50 * time.Millisecond)
					close(works)
				}()
			}
			select {
			case <-works:
				return nil
			default:
			}
			if hang {
				<-works
			}
			return errors.New("no answer")
		}
		client.On("RecordActivityHeartbeat", mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, []byte, ...any) error {
			select {
			case <-works:
			default:
				t.Errorf("%s: its heart beats", name)
			}
			return serviceerror.NewNotFound("the activity is over")
		})
		if err := runRing(t, a, a.Serve, ServeInput{member, state.Epoch(), time.Millisecond}); err == nil {
			t.Errorf("%s: the membership ends well", name)
		}
		if !a.Membership.Lost(time.Now()) {
			t.Errorf("%s: the end of the membership is not noted", name)
		}
	}
}

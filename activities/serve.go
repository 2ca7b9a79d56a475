package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/ring"
)

// ServeInput has a process of a worker be a member of the ring.
type ServeInput struct {
	RingMember
	Epoch uint64        `json:"epoch"` // in which it was accepted
	Every time.Duration `json:"every"` // between two heartbeats
}

// errStops ends the membership of a worker that stops.
var errStops = errors.New("the worker stops")

// Serve is the membership of a process in the ring: its heartbeat. It ends when the worker stops, or when Temporal has given it up. Each
// heartbeat waits for Temporal's answer: the permit of the worker counts from before the last one that was answered. A process that
// does no work, as its Probe says, sends none: a heart that beats in a process that is stuck would keep partitions from those that work.
func (a *Activities) Serve(ctx context.Context, in ServeInput) error {
	member, err := a.membership(in.RingMember)
	if err != nil {
		return err
	}
	defer member.end()
	probe, log := prober{probe: a.Probe}, activity.GetLogger(ctx)
	tick := time.NewTicker(in.Every)
	defer tick.Stop()
	for {
		if fault := probe.fault(in.Every); fault != nil {
			log.Error("this worker sends the ring no heartbeat: it does no work", "error", fault)
		} else if err := a.beat(ctx, member, in); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return errStops
		case <-member.stopped:
			return errStops
		}
	}
}

// beat sends a heartbeat. Its error ends the membership.
func (a *Activities) beat(ctx context.Context, member *Membership, in ServeInput) error {
	sent := time.Now() // with the monotonic clock, by which a permit ends
	err := a.Client.RecordActivityHeartbeat(ctx, activity.GetInfo(ctx).TaskToken, nil)
	var gone *serviceerror.NotFound
	var cancelled *temporal.CanceledError
	switch {
	case err == nil:
		member.With(func(rules *ring.Membership) { rules.Heard(sent, in.Epoch) })
	case errors.As(err, &gone), errors.As(err, &cancelled):
		return err
	default:
		activity.GetLogger(ctx).Warn("a heartbeat of the ring is not answered", "error", err)
	}
	return nil
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

// ClusterInput is the input of Cluster. State is nil but when it continues as new. Limits that are not set are the defaults.
type ClusterInput struct {
	Limits    ring.Limits `json:"limits,omitzero"`
	Forgotten time.Time   `json:"forgotten,omitzero"` // when a Cluster ended whose state is lost; zero if there was none
	State     *ring.State `json:"state,omitempty"`
}

// RingMember names a process of a worker.
type RingMember struct {
	Worker  string `json:"worker"`
	Process string `json:"process"`
}

// RingReports says what a worker has done of its tasks.
type RingReports struct {
	RingMember
	Exported []ring.Report `json:"exported,omitempty"`
	Loaded   []ring.Report `json:"loaded,omitempty"`
}

// ServeInput has a process of a worker be a member of the ring.
type ServeInput struct {
	RingMember
	Epoch uint64        `json:"epoch"` // in which it was accepted
	Every time.Duration `json:"every"` // between two heartbeats
}

// ViewInput has a process take a view of that epoch, or a later one, from Cluster.
type ViewInput struct {
	RingMember
	Epoch uint64 `json:"epoch"`
}

// Seat is the membership of this process in the ring, for all goroutines that ask for it.
type Seat struct {
	mu      sync.Mutex
	process string
	member  *ring.Membership
}

// NewSeat is that of a process which is not in the ring yet.
func NewSeat(worker, process string) *Seat {
	return &Seat{process: process, member: ring.NewMembership(worker, process)}
}

// With calls do with the membership. do must not keep it.
func (s *Seat) With(do func(m *ring.Membership)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.member)
}

// seat is the membership of the process that an input is for. The task queue of a worker outlives its processes.
func (a *Activities) seat(of RingMember) (*Seat, error) {
	if a.Seat == nil || a.Seat.process != of.Process {
		return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("process %s of worker %q is gone", of.Process, of.Worker), ErrorProcess, nil)
	}
	return a.Seat, nil
}

// Serve is the membership of a process in the ring: its heartbeat. It ends when the worker stops, or when Temporal has given it up. Each
// heartbeat waits for Temporal's answer: the permit of the worker counts from before the last one that was answered.
func (a *Activities) Serve(ctx context.Context, in ServeInput) error {
	seat, err := a.seat(in.RingMember)
	if err != nil {
		return err
	}
	for tick := time.NewTicker(in.Every); ; {
		sent := time.Now() // with the monotonic clock, by which a permit ends
		err := a.Client.RecordActivityHeartbeat(ctx, activity.GetInfo(ctx).TaskToken, nil)
		var gone *serviceerror.NotFound
		var cancelled *temporal.CanceledError
		switch {
		case err == nil:
			seat.With(func(m *ring.Membership) { m.Heard(sent, in.Epoch) })
		case errors.As(err, &gone), errors.As(err, &cancelled):
			tick.Stop()
			return err
		default:
			activity.GetLogger(ctx).Warn("a heartbeat of the ring is not answered", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		}
	}
}

// TakeView takes the present view of the ring from Cluster. The view does not pass through the history: a query has none.
func (a *Activities) TakeView(ctx context.Context, in ViewInput) error {
	seat, err := a.seat(in.RingMember)
	if err != nil {
		return err
	}
	value, err := a.Client.QueryWorkflow(ctx, names.ClusterID, "", names.QueryView, in.Worker)
	if err != nil {
		return fmt.Errorf("view of the ring: %w", err)
	}
	view := &ring.View{}
	if err := value.Get(view); err != nil {
		return fmt.Errorf("view of the ring: %w", err)
	}
	if view.Epoch < in.Epoch {
		return fmt.Errorf("view of the ring: it is of epoch %d, before %d", view.Epoch, in.Epoch)
	}
	seat.With(func(m *ring.Membership) { m.Take(time.Now(), view) })
	return nil
}

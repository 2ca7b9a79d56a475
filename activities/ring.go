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

// Membership is the membership of this process in the ring, for all goroutines that ask for it.
type Membership struct {
	of      RingMember
	changed chan struct{} // holds one
	stopped chan struct{} // closed when the process stops

	mu    sync.Mutex
	rules *ring.Membership
	epoch uint64 // the highest of a view that was taken
	ended bool   // Serve has, since the last registration
}

// NewMembership is that of a process which is not in the ring yet.
func NewMembership(worker, process string) *Membership {
	return &Membership{of: RingMember{worker, process}, changed: make(chan struct{}, 1), stopped: make(chan struct{}), rules: ring.NewMembership(worker, process)}
}

// With calls do with what the process knows of the ring. do must not keep it.
func (m *Membership) With(do func(rules *ring.Membership)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(m.rules)
}

// Changed yields after the process has a new view, or has lost its heartbeat. It is for one receiver.
func (m *Membership) Changed() <-chan struct{} { return m.changed }

func (m *Membership) change() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Registered takes the answer to a registration that was sent then.
func (m *Membership) Registered(sent time.Time, a ring.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = m.ended && !a.Accepted
	m.rules.Registered(sent, a)
}

// Lost reports whether the process has to register again: its heartbeat has ended, or was not answered for too long.
func (m *Membership) Lost(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended || m.rules.Silent(now)
}

// Take takes a view.
func (m *Membership) Take(v *ring.View) {
	m.With(func(rules *ring.Membership) {
		rules.Take(time.Now(), v)
		m.epoch = max(m.epoch, rules.Epoch())
	})
	m.change()
}

// Epoch is the highest that the process has seen; names.NoRing for a worker without a ring, or before the first view. It does not fall when
// the membership is lost: two batches of one claim number must not get one name.
func (m *Membership) Epoch() uint64 {
	if m == nil {
		return names.NoRing
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epoch
}

// Stop ends the heartbeat: the process is not registered again. It is called once.
func (m *Membership) Stop() { close(m.stopped) }

// end notes that the heartbeat has ended.
func (m *Membership) end() {
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.change()
}

// membership is that of the process that an input is for. The task queue of a worker outlives its processes.
func (a *Activities) membership(of RingMember) (*Membership, error) {
	if a.Membership == nil || a.Membership.of.Process != of.Process {
		return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("process %s of worker %q is gone", of.Process, of.Worker), ErrorProcess, nil)
	}
	return a.Membership, nil
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

// TakeView takes the present view of the ring from Cluster. The view does not pass through the history: a query has none.
func (a *Activities) TakeView(ctx context.Context, in ViewInput) error {
	member, err := a.membership(in.RingMember)
	if err != nil {
		return err
	}
	view, err := ViewRing(ctx, a.Client, in.Worker)
	if err != nil {
		return err
	}
	if view.Epoch < in.Epoch {
		return fmt.Errorf("view of the ring: it is of epoch %d, before %d", view.Epoch, in.Epoch)
	}
	member.Take(view)
	return nil
}

package activities

import (
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

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

// Tenures are the partitions that the worker owns, with the epoch since which it does; nil without a membership, a view or a permit. One without a permit may
// have been given up: others take what is delivered to its partitions by then, and a checkpoint of it would say that it has it.
func (m *Membership) Tenures() (owned map[int]uint64) {
	if m == nil {
		return nil
	}
	m.With(func(rules *ring.Membership) {
		if rules.MayAct(time.Now()) {
			owned = rules.View().Tenures(m.of.Worker)
		}
	})
	return owned
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

// Leads reports whether the worker is the first one of the ring, by name, that is up.
func (m *Membership) Leads() bool {
	view := m.present(time.Now())
	if view == nil {
		return false
	}
	first := ""
	for _, w := range view.Workers {
		if w.State() == ring.WorkerUp && (first == "" || w.Name < first) {
			first = w.Name
		}
	}
	return first == m.of.Worker
}

// Workers is the number of workers that are up, of the view that this process has; 0 without one.
func (m *Membership) Workers() (up int) {
	if view := m.present(time.Now()); view != nil {
		for _, w := range view.Workers {
			if w.State() == ring.WorkerUp {
				up++
			}
		}
	}
	return up
}

// present is the view of a process that the ring knows to be there; nil of another one.
func (m *Membership) present(now time.Time) (view *ring.View) {
	if m == nil {
		return nil
	}
	m.With(func(rules *ring.Membership) {
		if !rules.Silent(now) {
			view = rules.View()
		}
	})
	return view
}

// since is the epoch in which the ring accepted this process.
func (m *Membership) since() (epoch uint64) {
	if m != nil {
		m.With(func(rules *ring.Membership) { epoch = rules.Since() })
	}
	return epoch
}

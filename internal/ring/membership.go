package ring

import (
	"errors"
	"fmt"
	"time"
)

// Membership is what a worker knows of the ring, and by it what it may do. All times are by the worker's own clock. Not safe for
// concurrent use.
type Membership struct {
	name, process string
	limits        Limits
	since         uint64    // the epoch in which the worker was accepted
	heard         time.Time // when the last registration or heartbeat was sent that was answered
	view          *View
	closing       map[int]closing
}

// closing is what a worker knows of a partition that closes.
type closing struct {
	order     uint64
	since     time.Time // when the worker learned of it
	exporting bool
}

// NewMembership is that of a worker which is not in the ring yet.
func NewMembership(name, process string) *Membership {
	return &Membership{name: name, process: process, closing: map[int]closing{}}
}

// Registered takes the answer to a registration that was sent then. A view of an earlier epoch is void: the ring may have given its
// partitions to others since.
func (m *Membership) Registered(sent time.Time, a Answer) {
	if !a.Accepted {
		return
	}
	m.limits = a.Limits
	m.Heard(sent, a.Epoch)
}

// Heard says that a heartbeat was answered that was sent then, of the membership that was accepted in that epoch. The worker may not
// know of it: the ring may have given it up, and have accepted it again by a registration whose answer was lost.
func (m *Membership) Heard(sent time.Time, accepted uint64) {
	if accepted < m.since {
		return
	}
	if m.since = accepted; m.view != nil && m.view.Epoch < accepted {
		m.view = nil
	}
	if sent.After(m.heard) {
		m.heard = sent
	}
}

// Silent reports whether no heartbeat was answered for so long that the ring takes the worker for lost.
func (m *Membership) Silent(now time.Time) bool { return now.Sub(m.heard) >= m.limits.Heartbeat }

// Take takes a view, if it is newer than what the worker knows.
func (m *Membership) Take(now time.Time, v *View) bool {
	if v.Epoch < m.since || m.view != nil && v.Epoch <= m.view.Epoch {
		return false
	}
	m.view = v
	for p := range v.parts {
		part := v.parts[p]
		if !m.mine(Export, p) {
			delete(m.closing, p)
		} else if m.closing[p].order != part.order {
			m.closing[p] = closing{order: part.order, since: now}
		}
	}
	return true
}

// Epoch is that of the view, which claims, batches, asks and deliveries carry; 0 without one.
func (m *Membership) Epoch() uint64 {
	if m.view == nil {
		return 0
	}
	return m.view.Epoch
}

// Since is the epoch in which the process was accepted; 0 before.
func (m *Membership) Since() uint64 { return m.since }

// View is the newest view; nil if there is none.
func (m *Membership) View() *View { return m.view }

// mine reports what the view allows to this process.
func (m *Membership) mine(act Act, p int) bool {
	if m.view == nil || !m.view.May(act, m.name, p) {
		return false
	}
	w, _ := m.view.Worker(m.name)
	return w.Process == m.process
}

// permitted reports whether the worker was heard lately enough to be sure that the ring has not given it up.
func (m *Membership) permitted(now time.Time) bool { return now.Sub(m.heard) < m.limits.Permit }

// May reports whether the worker may do something with a partition. To claim, to fetch, to commit and to accept asks for a permit:
// a worker that was given the partition meanwhile, if the ring has given this one up, may do it too.
func (m *Membership) May(now time.Time, act Act, p int) bool {
	switch act {
	case Claim, Fetch, Commit, Accept:
		return m.permitted(now) && !m.closing[p].exporting && m.mine(act, p)
	}
	return m.mine(act, p)
}

// MayAct reports whether the worker may do anything at all in partitions: it has a permit, and a view in which it is this process.
func (m *Membership) MayAct(now time.Time) bool {
	if m.view == nil || !m.permitted(now) {
		return false
	}
	self, member := m.view.Worker(m.name)
	return member && self.Process == m.process
}

// ErrNotNow says that a worker may not do something in a partition at present: it has no permit or no view, or nobody may while the
// partition is handed over. It may be asked again.
var ErrNotNow = errors.New("this worker may not act in the partition at present")

// Check reports whether the worker may do something with a partition by what it has made, or others have sent it, in an epoch. ErrStale if the
// partition is another worker's, or has been since: then it never may. Else the error is ErrNotNow.
func (m *Membership) Check(now time.Time, act Act, p int, epoch uint64) error {
	if m.view == nil || !m.permitted(now) {
		return fmt.Errorf("partition %d: %w: the ring has not answered it of late", p, ErrNotNow)
	}
	self, member := m.view.Worker(m.name)
	if member && self.Process != m.process {
		return fmt.Errorf("partition %d: %w: another process of the worker is in the ring", p, ErrNotNow)
	}
	part := m.view.parts[p]
	mine := member && part.owner == self.Index
	elsewhere := !mine && (part.step == Owned || part.step == Closing)
	switch {
	case !member, elsewhere, mine && epoch < part.tenure, !mine && epoch < part.order:
		return fmt.Errorf("partition %d, epoch %d: %w: in epoch %d it is %s", p, epoch, ErrStale, m.view.Epoch, part.step)
	case epoch > m.view.Epoch || !m.May(now, act, p):
		return fmt.Errorf("partition %d, epoch %d: %w: in epoch %d it is %s", p, epoch, ErrNotNow, m.view.Epoch, part.step)
	}
	return nil
}

// StartExport says that the worker starts to write the export of a partition, of which no batch is in progress; false if that is not asked of it.
// From then on it may commit nothing there, unless a later view gives the partition back: what is committed after the
// export was written would be missing at the next owner.
func (m *Membership) StartExport(p int) bool {
	c, closes := m.closing[p]
	if closes {
		c.exporting = true
		m.closing[p] = c
	}
	return closes
}

// GiveBack reports that the batches of a partition that closes have had their time, and are to be given back.
func (m *Membership) GiveBack(now time.Time, p int) bool {
	c, closes := m.closing[p]
	return closes && now.Sub(c.since) >= m.limits.CloseWithin
}

// Task is what the ring asks of a worker.
type Task struct {
	Act       Act    `json:"act"` // Export, Load or Drop
	Partition int    `json:"partition"`
	Order     uint64 `json:"order"`            // that the report of it names
	Object    string `json:"object,omitempty"` // to load; none if the partition is to be rebuilt
}

// Tasks are what the newest view asks of the worker: to export what closes, once no batch of it is in progress; to load or to rebuild, in
// place of all that its disk has of the partition; to drop what is others'. A task of an earlier view that is not among them is
// over: it must have stopped before another one of the same partition begins.
func (m *Membership) Tasks() (tasks []Task) {
	for p := range Partitions {
		for _, act := range []Act{Export, Load, Drop} {
			if m.mine(act, p) {
				tasks = append(tasks, Task{act, p, m.view.parts[p].order, m.view.objects[p]})
			}
		}
	}
	return tasks
}

// Gone reports that a view which the worker has taken does not have it: it has left, or was given up. What its data folder holds
// of partitions is of no use any more.
func (m *Membership) Gone() bool {
	if m.view == nil {
		return false
	}
	_, in := m.view.Worker(m.name)
	return !in
}

package activities

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// Member is a worker that takes part.
type Member struct {
	Worker string `json:"worker"`
	Queue  string `json:"queue"` // its own task queue
	// Instance is the identity of its data folder: a worker of the same name on another folder has other frontiers and claims.
	Instance string `json:"instance,omitempty"`
	// Process is that which the ring has accepted; empty in a crawl that is bound to its worker.
	Process string `json:"process,omitempty"`
	Lost    bool   `json:"lost,omitempty"`    // it is silent, and the ring waits for it
	Leaving bool   `json:"leaving,omitempty"` // it hands over what it owns
}

// Members names the worker that takes part in a crawl that is bound to it. It runs on the shared queue: the worker that takes it takes part.
func (a *Activities) Members(context.Context) ([]Member, error) {
	return []Member{{Worker: a.Settings.Worker, Queue: a.queue(), Instance: a.Settings.Instance}}, nil
}

// MembersInput asks for the workers of the ring, once they are others than those.
type MembersInput struct {
	Crawl string   `json:"crawl"`
	Known []Member `json:"known,omitempty"` // none: a crawl begins, which waits until each partition has an owner
}

const (
	// membersWait is how long a crawl waits for a change of the ring before it asks again.
	membersWait = time.Hour
	// membersPause is how long it takes at most until a crawl learns of a change that its worker knows.
	membersPause = time.Second
)

// errAway says that a worker cannot speak for the ring now; another one may.
var errAway = errors.New("this worker is not in the ring of workers at present")

// AwaitMembers waits until the workers of the ring are others than a crawl knows, and returns them; after membersWait the same ones. It
// runs on the shared queue, and reads the view of the worker that takes it.
func (a *Activities) AwaitMembers(ctx context.Context, in MembersInput) ([]Member, error) {
	waiting, release := untilStopped(ctx)
	defer release()
	tick := time.NewTicker(membersPause)
	defer tick.Stop()
	for end := time.Now().Add(membersWait); ; {
		view := a.Membership.present(time.Now())
		if view == nil {
			return nil, errAway
		}
		members := membersOf(view)
		if changed := !slices.Equal(members, in.Known); changed && (in.Known != nil || view.Owned()) || time.Now().After(end) {
			return members, nil
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			return nil, cmp.Or(ctx.Err(), errAway)
		}
	}
}

// membersOf are the workers of a view.
func membersOf(v *ring.View) (list []Member) {
	for _, w := range v.Workers {
		list = append(list, Member{w.Name, w.Queue, w.Instance, w.Process, w.Lost, w.Leaving})
	}
	return list
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

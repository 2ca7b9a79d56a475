package activities

import (
	"cmp"
	"context"
	"encoding/json"
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
	Epoch uint64   `json:"epoch,omitempty"` // of the view that they are of; 0 in an execution of an earlier version
}

// MembersResult are the workers of the ring.
type MembersResult struct {
	Workers []Member `json:"workers"`
	Epoch   uint64   `json:"epoch"` // of the view that they are of
}

// UnmarshalJSON reads the result, also that of an earlier version, which is the list alone.
func (r *MembersResult) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, &r.Workers)
	}
	type plain MembersResult
	return json.Unmarshal(text, (*plain)(r))
}

const (
	// membersWait is how long a crawl waits for a change of the ring before it asks again.
	membersWait = time.Hour
	// membersPause is how long it takes at most until a crawl learns of a change that its worker knows.
	membersPause = time.Second
)

// errAway says that a worker cannot speak for the ring now; another one may.
var errAway = errors.New("this worker is not in the ring of workers at present")

// AwaitMembers waits until the workers of the ring are others than a crawl knows, and returns them; after membersWait those that it sees. It
// runs on the shared queue, and reads the view of the worker that takes it. One that is behind what the crawl knows would take a change back: until
// that worker has a newer view, it is as if nothing had changed.
func (a *Activities) AwaitMembers(ctx context.Context, in MembersInput) (out MembersResult, err error) {
	waiting, release := untilStopped(ctx)
	defer release()
	tick := time.NewTicker(membersPause)
	defer tick.Stop()
	for end := time.Now().Add(membersWait); ; {
		view := a.Membership.present(time.Now())
		if view == nil {
			return out, errAway
		}
		out = MembersResult{membersOf(view), view.Epoch}
		changed := out.Epoch >= in.Epoch && !slices.Equal(out.Workers, in.Known)
		if changed && (in.Known != nil || view.Owned()) || time.Now().After(end) {
			return out, nil
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			return out, cmp.Or(ctx.Err(), errAway)
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

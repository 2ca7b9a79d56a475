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

// MembersInput asks for the workers of the ring, once they are others than those.
type MembersInput struct {
	Crawl string   `json:"crawl"`
	Known []Member `json:"known,omitempty"` // none: a crawl begins
	// Unowned says that a crawl that begins does not wait until each partition has an owner.
	Unowned bool   `json:"unowned,omitempty"`
	Epoch   uint64 `json:"epoch,omitempty"` // of the view that they are of; 0 in an execution of an earlier version
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
		if changed && (in.Known != nil || in.Unowned || view.Owned()) || time.Now().After(end) {
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

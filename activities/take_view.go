package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"
)

// ViewInput has a process take a view of that epoch, or a later one, from Cluster.
type ViewInput struct {
	RingMember
	Epoch uint64 `json:"epoch"`
}

// TakeView takes the present view of the ring from Cluster. The view does not pass through the history: a query has none.
func (a *Activities) TakeView(ctx context.Context, in ViewInput) error {
	member, err := a.membership(in.RingMember)
	if err != nil {
		return err
	}
	if activity.IsActivity(ctx) { // what it loads by the view is by this clock: one that joins has had no lease that measured it
		a.clock(ctx)
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

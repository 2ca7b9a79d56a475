package activities

import (
	"context"
	"errors"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
)

// RouteInput is what a batch has left to deliver that has been committed without it. It goes to the data folder that holds the batch: another one,
// which knows of the run by the archive alone, does not know whether it has ended.
type RouteInput struct {
	BatchInput
	Left DeliverInput `json:"left"`
}

// Route says which workers, perhaps this one, take what a batch has left to deliver. Nothing once the run has ended, or the crawl is forgotten. If
// a worker refuses its links (in.Refused), the crawl holds here.
func (a *Activities) Route(_ context.Context, in RouteInput) (UndeliveredResult, error) {
	d := in.Left
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil && !errors.Is(err, frontier.ErrNoCrawl) {
		return UndeliveredResult{}, err
	}
	over := err != nil || plan.Definition.Name != "" && (plan.Run > d.Run || plan.Run == d.Run && !plan.Active)
	if over || len(d.Partitions) == 0 {
		a.waitsForNobody(in.BatchInput)
		if err == nil {
			err = a.batch(in.BatchInput).Delivered()
		}
		if errors.Is(err, frontier.ErrNoCrawl) {
			err = nil
		}
		return UndeliveredResult{}, err
	}
	a.noteRefusal(in.BatchInput)
	a.Behind.note(in.BatchInput, a.Now())
	out, _ := route(d.Partitions, a.view(), "", func(int, uint64) error { return ring.ErrStale })
	for i := range out.To {
		to := out.To[i].DeliverInput
		d.Partitions, d.Epoch = to.Partitions, to.Epoch
		out.To[i].DeliverInput = d
	}
	return out, nil
}

// waitsForNobody notes that a batch does not wait for other workers any more, and that none refuses its links.
func (a *Activities) waitsForNobody(in BatchInput) {
	a.Behind.end(in)
	a.refusals.note(in.Crawl, in.Batch, nil, a.Now())
}

// route divides partitions by the workers that take deliveries to them; nobody does to those that are waiting. mine reports whether this worker may
// commit to one itself.
func route(need []int, view *ring.View, self string, mine func(p int, epoch uint64) error) (out UndeliveredResult, waiting []int) {
	epoch := uint64(0)
	if view != nil {
		epoch = view.Epoch
	}
	for _, p := range need {
		if mine(p, epoch) == nil {
			continue
		}
		var owner ring.Worker
		owned := false
		if view != nil {
			owner, owned = view.Owner(p)
		}
		if !owned || owner.Lost || owner.Name == self {
			waiting = append(waiting, p)
			continue
		}
		i := slices.IndexFunc(out.To, func(d Delivery) bool { return d.Owner == owner.Name })
		if i < 0 {
			i = len(out.To)
			out.To = append(out.To, Delivery{Queue: owner.Queue, Owner: owner.Name})
			out.To[i].Epoch = epoch
		}
		out.To[i].Partitions = append(out.To[i].Partitions, p)
	}
	out.Waits = len(waiting)
	return out, waiting
}

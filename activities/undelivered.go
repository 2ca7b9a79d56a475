package activities

import (
	"context"
	"errors"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
)

// fileLinks lists the partitions that a batch of a spread crawl has found links to, in the spool.
const fileLinks = "partitions.json"

// UndeliveredResult says what is to be delivered before a batch is committed.
type UndeliveredResult struct {
	To []Delivery `json:"to,omitempty"`
	// Waits is how many more partitions there are that nobody takes deliveries for at present: they are handed over, or their owner is silent.
	Waits int `json:"waits,omitempty"`
	// Left is all that is to be delivered, if some waits; nil of an earlier version. The batch delivers by Route what is left after a first try.
	Left *DeliverInput `json:"left,omitempty"`
	// Stale is all that is to be delivered of a batch with claims of a former tenure: the ring had given this worker up. Who is to load or to make
	// their partitions again, perhaps this worker, waits until they are given back; and what the batch would wait for may wait for that. So
	// it is committed first, without its links, and then delivers them by Route.
	Stale *DeliverInput `json:"stale,omitempty"`
}

// Delivery is for one owner.
type Delivery struct {
	Queue string `json:"queue"` // the owner's
	Owner string `json:"owner"`
	DeliverInput
}

// Undelivered says which links of an archived batch of a spread crawl are to be delivered, and to which workers, by the present view of the
// ring: those to partitions that are not this worker's, and that in.Delivered does not have. Its claims do not run out meanwhile. If
// a worker refuses its links (in.Refused), the crawl holds here.
func (a *Activities) Undelivered(ctx context.Context, in BatchInput) (out UndeliveredResult, err error) {
	a.noteRefusal(in)
	life, err := a.batch(in).Life()
	if errors.Is(err, frontier.ErrNoBatch) { // nothing is left to commit
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if err := a.batch(in).Renew(); err != nil {
		return out, err
	}
	need, err := a.linksTo(ctx, in, life)
	if err != nil {
		return out, err
	}
	need = slices.DeleteFunc(need, func(p int) bool { return slices.Contains(in.Delivered, p) })
	if len(need) > 0 && errors.Is(a.batch(in).MayCommit(), ring.ErrStale) {
		d, err := a.deliveryOf(ctx, in)
		d.Partitions = need
		return UndeliveredResult{Stale: &d}, err
	}
	out, waiting := route(need, a.view(), a.Settings.Worker, func(p int, epoch uint64) error { return a.check(ring.Commit, p, epoch) })
	if len(out.To)+out.Waits > 0 {
		a.Behind.note(in, a.Now())
	}
	if len(out.To)+out.Waits == 0 {
		return out, nil
	}
	d, err := a.deliveryOf(ctx, in)
	if len(waiting) > 0 {
		left := d
		for _, to := range out.To {
			left.Partitions = append(left.Partitions, to.Partitions...)
		}
		left.Partitions = append(left.Partitions, waiting...)
		out.Left = &left
	}
	for i := range out.To {
		d.Partitions, d.Epoch = out.To[i].Partitions, out.To[i].Epoch
		out.To[i].DeliverInput = d
	}
	return out, err
}

// Rest is what is left to deliver once some partitions have taken their links; nil if the step does not say it.
func (u UndeliveredResult) Rest(delivered []int) *DeliverInput {
	var d DeliverInput
	switch {
	case u.Left != nil:
		d = *u.Left
	case u.Waits > 0 || len(u.To) == 0:
		return nil
	default:
		d, d.Partitions = u.To[0].DeliverInput, nil
		for _, to := range u.To {
			d.Partitions = append(d.Partitions, to.Partitions...)
		}
	}
	d.Partitions = slices.DeleteFunc(slices.Clone(d.Partitions), func(p int) bool { return slices.Contains(delivered, p) })
	return &d
}

// view is the newest view of the ring; nil without one.
func (a *Activities) view() (view *ring.View) {
	if a.Membership != nil {
		a.Membership.With(func(rules *ring.Membership) { view = rules.View() })
	}
	return view
}

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

// deliveryOf names the segment of a batch.
func (a *Activities) deliveryOf(ctx context.Context, in BatchInput) (d DeliverInput, err error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return d, err
	}
	h, err := a.destination(ctx, in, plan)
	if err != nil {
		return d, err
	}
	d = DeliverInput{
		Crawl: in.Crawl, Batch: in.Batch, Worker: h.label.Worker, Nonce: h.label.Nonce, Where: h.store.String(), Prefix: h.label.Prefix, Run: plan.Run,
	}
	d.Watermark, err = a.Frontier.Crawl(in.Crawl).Watermark()
	return d, err
}

// linksTo are the partitions that a batch has found links to: ARCHIVE has left them in the spool, or they are made from the segment.
func (a *Activities) linksTo(ctx context.Context, in BatchInput, life frontier.Life) (partitions []int, err error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	err = b.Read(fileLinks, &partitions)
	if !errors.Is(err, spool.ErrMissing) {
		return partitions, err
	}
	left, err := readResult(b)
	if errors.Is(err, spool.ErrMissing) {
		left, err = a.recoverResult(ctx, in, life)
	}
	if err != nil {
		return nil, err
	}
	return a.keepLinks(in, b, &left)
}

// keepLinks leaves in the spool which partitions a batch has found links to.
func (a *Activities) keepLinks(in BatchInput, b *spool.Batch, left *pipeline.Result) ([]int, error) {
	found, err := a.Frontier.Crawl(in.Crawl).LinksTo(left.Discoveries)
	if err != nil {
		return nil, err
	}
	partitions := make([]int, len(found))
	for i, p := range found {
		partitions[i] = int(p)
	}
	return partitions, b.Write(fileLinks, partitions)
}

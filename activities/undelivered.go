package activities

import (
	"cmp"
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

// deliveryOf names the segment of a batch, and its worker as the name of the batch does: marks are the same when the worker was renamed since.
func (a *Activities) deliveryOf(ctx context.Context, in BatchInput) (d DeliverInput, err error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return d, err
	}
	h, err := a.destination(ctx, in, plan)
	if err != nil {
		return d, err
	}
	worker, _, _ := frontier.BatchOf(in.Batch)
	d = DeliverInput{
		Crawl: in.Crawl, Batch: in.Batch, Worker: cmp.Or(worker, h.label.Worker), Nonce: h.label.Nonce, Where: h.store.String(), Prefix: h.label.Prefix, Run: plan.Run,
	}
	mark, err := a.Frontier.Crawl(in.Crawl).Watermark()
	d.First, d.Watermark = mark.First, mark.Below
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

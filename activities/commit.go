package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
)

// Commit marks the batch's URLs in the frontier and queues its outlinks; the claims and the spool are
// freed with that. It is idempotent by batch.
func (a *Activities) Commit(ctx context.Context, in BatchInput) error {
	return a.commit(ctx, in, time.Time{})
}

// commit does so for a batch that has failed, too: then the queues of its claims rest until a time.
func (a *Activities) commit(ctx context.Context, in BatchInput, rest time.Time) error {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	life, err := a.batch(in).Life()
	if errors.Is(err, frontier.ErrNoBatch) {
		if a.batch(in).Committed() { // before: the claims went with it, but perhaps not all else
			a.forgetBatch(in)
			return b.Remove()
		}
		return nil
	}
	if err != nil {
		return err
	}
	left, err := a.result(in)
	recovered := errors.Is(err, spool.ErrMissing)
	if recovered {
		left, err = a.recoverResult(ctx, in, life)
	}
	if err != nil {
		return err
	}
	c, err := left.Commit(in.Batch)
	if err != nil {
		return err
	}
	c.Archive, c.Recovered, c.Rest = life.Archive, recovered, rest
	if in.Spread {
		c.Owes = in.Owes
		c.Others = func(p frontier.Partition) bool { return slices.Contains(in.Delivered, int(p)) }
	}
	err = a.Frontier.Crawl(in.Crawl).Commit(c)
	var partly *frontier.PartlyDeliveredError
	if errors.As(err, &partly) {
		if err = a.deliverHere(ctx, in, partly.Partitions); err == nil {
			c.Others = func(p frontier.Partition) bool {
				return slices.Contains(in.Delivered, int(p)) || slices.Contains(partly.Partitions, p)
			}
			err = a.Frontier.Crawl(in.Crawl).Commit(c)
		}
	}
	if err != nil {
		return err
	}
	a.forgetBatch(in)
	return b.Remove()
}

// deliverHere ends a delivery to partitions that are this worker's now, as their owner. While they are not, the batch delivers first.
func (a *Activities) deliverHere(ctx context.Context, in BatchInput, partitions []frontier.Partition) error {
	d, err := a.deliveryOf(ctx, in)
	if err != nil {
		return err
	}
	list := make([]int, len(partitions))
	for i, p := range partitions {
		list[i] = int(p)
	}
	leave, err := a.deliveries.enter(ctx, a.Settings.Deliveries)
	if err != nil {
		return err
	}
	defer leave()
	epoch := a.Membership.Epoch()
	err = a.queueLinks(ctx, d, list, func(p frontier.Partition) error { return a.check(ring.Accept, int(p), epoch) })
	switch {
	case comesAgain(err):
		return fmt.Errorf("%w: %w", frontier.ErrUndelivered, err)
	case archive.Damaged(err), errors.Is(err, archive.ErrNotFound): // without it the batch could never be committed
		return a.passOver(ctx, in.Crawl, err, lostLinks)
	}
	return err
}

// forgetBatch forgets what the worker holds of a batch in memory.
func (a *Activities) forgetBatch(in BatchInput) {
	a.Engine.Drop(in.Crawl, in.Batch)
	a.InFlight.end(in)
	if !in.Owes {
		a.waitsForNobody(in)
	}
}

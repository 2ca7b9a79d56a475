package activities

import (
	"context"
	"errors"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
)

// TakeLost queues what batches of a lost worker have archived and found in the partitions of this one. What was delivered before is not
// counted again. It returns the partitions for which that is done: those that are this worker's now.
func (a *Activities) TakeLost(ctx context.Context, in LostInput) (out LostResult, err error) {
	epoch := a.Membership.Epoch()
	may := func(p frontier.Partition) error { return a.check(ring.Accept, int(p), epoch) }
	open := slices.DeleteFunc(allPartitions(), func(p int) bool { return slices.Contains(in.Taken, p) })
	mine, _ := acceptedOf(open, may)
	if len(mine) == 0 {
		return out, nil
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	for _, place := range plan.Archives {
		if err == nil {
			err = a.takeLost(ctx, in, plan, place, mine, may)
		}
	}
	if comesAgain(err) {
		return out, nil
	}
	if err == nil {
		out.Taken = mine
	}
	return out, err
}

// takeLost does so with the segments in one archive.
func (a *Activities) takeLost(ctx context.Context, in LostInput, plan frontier.Plan, place frontier.Place, mine []int, may func(frontier.Partition) error) error {
	store, err := a.Archives.reopen(ctx, place.Where)
	if err != nil {
		return err
	}
	of := archive.Layout{Prefix: place.Prefix, Crawl: in.Crawl}
	for _, batch := range in.Batches {
		var lives []string
		err := store.List(ctx, of.ManifestsOf(batch), func(o archive.Object) error {
			if nonce, is := of.NonceOf(o.Key, batch); is {
				lives = append(lives, nonce)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, nonce := range lives {
			segment := archive.Label{Crawl: in.Crawl, Batch: batch, Nonce: nonce, Worker: in.Worker, Prefix: place.Prefix}
			err := a.Engine.Deliver(ctx, store, pipeline.Arrival{Segment: segment, Run: plan.Run, Partitions: mine}, may)
			if err != nil && !errors.Is(err, archive.ErrGivenBack) && !errors.Is(err, archive.ErrForeign) {
				return err
			}
		}
	}
	return nil
}

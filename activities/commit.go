package activities

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/spool"
)

// Commit marks the batch's URLs in the frontier and queues its outlinks; the claims and the spool are
// freed with that. It is idempotent by batch.
func (a *Activities) Commit(_ context.Context, in BatchInput) error {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	left, err := readCommitting(b)
	if errors.Is(err, spool.ErrMissing) && !a.Frontier.Holds(in.Crawl, in.Batch) {
		return nil // committed before: the spool went with it
	}
	if err != nil {
		return edge(err)
	}
	samples, err := encodeSamples(left.Samples)
	if err != nil {
		return edge(err)
	}
	err = a.Frontier.Commit(frontier.Commit{
		Crawl: in.Crawl, Batch: in.Batch, Outcomes: left.Outcomes, Discoveries: left.Discoveries,
		Originals: left.Originals, Sample: samples,
	})
	if err != nil {
		return edge(err)
	}
	a.handed.drop(b.Dir())
	a.UnderWay.end(in)
	return edge(b.Remove())
}

// GiveBack returns the URLs of a failed batch to their queues, which rest a while. If the batch had
// come as far as its manifest, it is committed instead: what is archived is not fetched again.
func (a *Activities) GiveBack(ctx context.Context, in BatchInput) error {
	defer a.beat(ctx)()
	ctx, release := a.exclusive(ctx, in.Crawl+"/"+in.Batch) // a step that was cut off may still run
	defer release()
	archived, err := a.isArchived(ctx, in)
	if err != nil {
		return edge(err)
	}
	if archived {
		return a.Commit(ctx, in)
	}
	a.UnderWay.end(in)
	a.handed.drop(a.Spool.Batch(in.Crawl, in.Batch).Dir())
	return edge(a.Frontier.GiveBack(in.Crawl, in.Batch, a.Now().Add(a.Settings.GiveBack)))
}

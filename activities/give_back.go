package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// GiveBack returns the URLs of a failed batch to their queues, which rest a while. What was fetched of them is archived and
// committed first, if that can be done: no later batch looks into the spool of this one, and would fetch it again. Else it
// takes the place of the manifest, so that no attempt of ARCHIVE that is still on its way can commit what will be fetched
// again.
func (a *Activities) GiveBack(ctx context.Context, in BatchInput) error {
	a.unwritable.begin(in.Crawl, in.Batch)
	stands, err := unarchived, a.salvage(ctx, in)
	if err == nil {
		stands, err = a.closeLife(ctx, in)
	}
	a.unwritable.end(in.Crawl, in.Batch, err, a.Now())
	if err != nil {
		return err
	}
	rest := a.Now().Add(a.Settings.GiveBack)
	if stands == isArchived {
		return a.commit(ctx, in, rest)
	}
	a.forgetBatch(in)
	a.forgetPrerequisites(ctx, in)
	a.pageAnswers.clear() // what pages were answered with may be in no archive now
	return a.batch(in).GiveBack(rest)
}

// maxSalvages bounds the attempts to archive what a failed batch has fetched that a worker's death cut off: the batch may be what
// kills the worker.
const maxSalvages = 3

// salvage archives what a failed batch has fetched. An error says that it may be tried again: the store does not answer, or the
// worker is stopped. What fails for the batch's own sake is left: its pages are fetched again.
func (a *Activities) salvage(ctx context.Context, in BatchInput) error {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	log, info := activity.GetLogger(ctx), activity.GetInfo(ctx)
	if _, err := a.extendedLanes(in, b); err != nil && !errors.Is(err, spool.ErrMissing) {
		log.Warn("requisites that a failed batch has fetched with their pages are fetched again", "batch", in.Batch, "error", err)
	}
	fetched, err := fetchedURLs(b)
	if err != nil {
		log.Warn("what a failed batch has fetched cannot be read", "batch", in.Batch, "error", err)
	}
	t := attemptsBefore(b, info.WorkflowExecution.RunID, nameGiveBack, int(info.Attempt))
	if len(fetched) == 0 || t.Faults > 0 || t.cutOff(int(info.Attempt)) >= maxSalvages {
		return nil
	}
	_, err = catchPanic(ctx, func(ctx context.Context) (any, error) {
		return nil, a.withSeat(ctx, in.Crawl, pipeline.StepArchive, func(ctx context.Context) error {
			_, err := a.archiveBatch(ctx, in, a.spooled(ctx, in), true)
			return err
		})
	})
	if err == nil {
		return nil
	}
	final := t.end(toApplicationError(err), ctx.Err(), 1)
	if errWrite := b.Write(fileAttempts, t); errWrite != nil { // then the attempt counts as cut off
		log.Warn("the end of an attempt could not be recorded", "error", errWrite)
	}
	if final == nil {
		return err
	}
	log.Warn("what a failed batch has fetched cannot be archived; it is fetched again", "batch", in.Batch, "error", err)
	return nil
}

// archiveOf names the archive that the segment of a batch goes to, the crawl's own folder of it.
func (a *Activities) archiveOf(in BatchInput) string {
	life, err := a.batch(in).Life()
	if err != nil { // it has no claim any more, and makes no request
		return in.Crawl
	}
	return in.Crawl + " " + life.Place.String()
}

// forgetPrerequisites has later batches ask again for the robots.txt and archive again the addresses that a batch found
// which leaves no segment: pages that are fetched by what is remembered of them would lack it in the archive.
func (a *Activities) forgetPrerequisites(ctx context.Context, in BatchInput) {
	entries, closer, err := a.Spool.Batch(in.Crawl, in.Batch).Entries()
	if err == nil {
		var list []crawl.Exchange
		for _, e := range entries {
			if e.Exchange.Kind == crawl.ExchangeRobots || e.Exchange.Kind == crawl.ExchangeDNS {
				list = append(list, e.Exchange)
			}
		}
		a.Fetch.Forget(a.archiveOf(in), list)
		err = closer()
	}
	if err != nil && !errors.Is(err, spool.ErrMissing) { // no reason to keep the URLs
		activity.GetLogger(ctx).Warn("robots.txt and DNS answers of a batch may be missing in the archive", "error", err)
	}
}

// closeLife makes sure that a batch's present life leaves no segment, unless it has left one. One that is unarchived has not come as far as the manifest: nothing
// had to be put in its place.
func (a *Activities) closeLife(ctx context.Context, in BatchInput) (lifeState, error) {
	life, err := a.batch(in).Life()
	if errors.Is(err, frontier.ErrNoBatch) || errors.Is(err, frontier.ErrNoCrawl) {
		return unarchived, nil // nothing is left to give back
	}
	if err != nil {
		return unarchived, err
	}
	h, may, err := a.destinationOfManifest(ctx, in, life)
	if !may || err != nil {
		return unarchived, err
	}
	err = archive.GiveBack(ctx, h.store, h.label, a.Now())
	if errors.Is(err, archive.ErrExists) {
		return isArchived, nil
	}
	if err != nil {
		return unarchived, err
	}
	a.tidy(ctx, h, nil)
	return isGivenBack, nil
}

package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// destination is where the segment of a batch's present life goes, and its label. A batch that was started before its crawl got
// another archive keeps the old one.
type destination struct {
	store archive.Store
	label archive.Label
	life  frontier.Life
}

// destination opens the archive of a batch; frontier.ErrNoBatch if the batch has no claim any more.
func (a *Activities) destination(ctx context.Context, in BatchInput, plan frontier.Plan) (destination, error) {
	d := plan.Definition
	life, err := a.batch(in).Life()
	if err != nil {
		return destination{}, err
	}
	open := a.Archives.reopen
	if life.Place.Where == "" { // started before places were kept
		life.Place, open = frontier.Place{Where: d.Archive.Where, Prefix: d.Archive.Prefix}, a.Archives.Open
	}
	store, err := open(ctx, life.Place.Where)
	if err != nil {
		return destination{}, err
	}
	return destination{store, archive.Label{
		Crawl: in.Crawl, Batch: in.Batch, Nonce: life.Nonce, Run: plan.Run, Worker: a.Settings.Worker, Instance: a.Settings.Instance, Prefix: life.Place.Prefix,
		Operator: d.Archive.Operator, Agent: d.Politeness.Agent(), Robots: d.Robots.Words(), Software: a.Settings.Software, Description: d.Description,
		Digest: d.Archive.Digest,
	}, life}, nil
}

// manifest reads the manifest that the batch has left: archive.ErrNotFound if there is none so far, archive.ErrGivenBack or
// archive.ErrForeign if there will be none in this life.
func (h destination) manifest(ctx context.Context) (archive.Manifest, error) {
	return archive.ReadManifest(ctx, h.store, h.label)
}

// mayBeArchived reports whether an attempt of ARCHIVE may have come as far as the manifest. It leaves what COMMIT
// needs in the spool before; where the spool itself is gone nobody knows.
func mayBeArchived(b *spool.Batch, life frontier.Life) (bool, error) {
	left, err := b.Has(fileCommit)
	if left || err != nil {
		return left, err
	}
	opened, err := b.Has(fileLanes)
	return !opened && life.Opened, err
}

// destinationOfManifest opens the archive of a batch, if its manifest may be there (mayBeArchived).
func (a *Activities) destinationOfManifest(ctx context.Context, in BatchInput, life frontier.Life) (h destination, may bool, err error) {
	if may, err = mayBeArchived(a.Spool.Batch(in.Crawl, in.Batch), life); !may || err != nil {
		return destination{}, false, err
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return destination{}, false, err
	}
	h, err = a.destination(ctx, in, plan)
	return h, err == nil, err
}

// lifeState says how far a batch has come in its present life.
type lifeState int

const (
	unarchived  lifeState = iota // no manifest; or no life at all
	isArchived                   // the manifest is there: only the commit is missing
	isGivenBack                  // or can never be archived, for its key is taken
)

// lifeState looks for the manifest of a batch, if there may be one.
func (a *Activities) lifeState(ctx context.Context, in BatchInput) (lifeState, error) {
	life, err := a.batch(in).Life()
	if errors.Is(err, frontier.ErrNoBatch) {
		return unarchived, nil
	}
	if err != nil {
		return unarchived, err
	}
	h, may, err := a.destinationOfManifest(ctx, in, life)
	if !may || err != nil {
		return unarchived, err
	}
	switch _, err := h.manifest(ctx); {
	case errors.Is(err, archive.ErrNotFound): // which would count as damaged, too
		return unarchived, nil
	case err == nil, archive.Damaged(err): // nothing else can be put in its place
		return isArchived, nil
	case errors.Is(err, archive.ErrGivenBack), errors.Is(err, archive.ErrForeign):
		return isGivenBack, nil
	default:
		return unarchived, err
	}
}

// chooseArchive says where the batches of a crawl go from now on: to the archive of its definition, or to the worker's own.
// former is where they went before, if that was another.
func (a *Activities) chooseArchive(ctx context.Context, d crawl.Definition) (store archive.Store, former *frontier.Place, err error) {
	store, err = a.Archives.Open(ctx, d.Archive.Where)
	a.unwritable.end(d.Name, "", err, a.Now())
	if err != nil {
		return nil, nil, err
	}
	to := frontier.Place{Where: store.String(), Prefix: d.Archive.Prefix}
	if err := a.keepPlace(ctx, d, to); err != nil {
		return nil, nil, err
	}
	_, former, err = a.Frontier.Crawl(d.Name).UseArchive(to)
	if err == nil && former != nil {
		activity.GetLogger(ctx).Warn("the crawl's archive has changed: pages are archived whole again, for no revisit refers to another archive",
			"crawl", d.Name, "archive", to.String(), "before", former.String())
	}
	return store, former, err
}

// recoverResult makes what COMMIT needs out of the segment in the archive: the working files are lost, the manifest is there.
// URLs of the batch that the segment does not have go back to their queues; so do those whose outcomes cannot be read, see passOver.
func (a *Activities) recoverResult(ctx context.Context, in BatchInput, life frontier.Life) (left pipeline.Result, err error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return left, err
	}
	h, err := a.destination(ctx, in, plan)
	if err != nil {
		return left, err
	}
	m, err := h.manifest(ctx)
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrGivenBack) || errors.Is(err, archive.ErrForeign) {
		return left, fmt.Errorf("%w, and there is no segment to commit in their place: %w", spool.ErrMissing, err)
	}
	if err == nil {
		left, err = a.Engine.Recover(ctx, plan.Definition, h.store, m, life.Archive)
	}
	if archive.Damaged(err) { // what could be read counts
		err = a.passOver(ctx, in.Crawl, err, lostOutcomes)
	}
	return left, err // if the archive does not answer, the segment may be there
}

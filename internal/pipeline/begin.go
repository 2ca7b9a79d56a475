package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
)

// Opening is what a run starts with. The laboratory has the first two fields alone.
type Opening struct {
	Definition crawl.Definition
	Owner      string // see frontier.Begin
	Run        uint32 // its number; 0: the frontier counts
	// Epoch is that of the ring by which a crawl that is spread keeps the seeds of its partitions; 0 if it is bound.
	Epoch uint64
	// Parts says that the run of a crawl that is spread begins with the partitions in which the worker may queue URLs now; those that are on their way
	// are left out, see frontier.Unseeded.
	Parts bool
	// Archive opens the archive of the crawl, of which a frontier that was lost gets back what it knew; nil: there is none.
	Archive func(context.Context) (archive.Store, error)
	// Abandoned reports whether the owner of a run that is in progress has gone without ending it; nil: no owner has.
	Abandoned func(ctx context.Context, crawl string) bool
	// Opened is called when the frontier has the run, before anything is restored or queued; nil: nothing is to be done then.
	Opened func(ctx context.Context, store archive.Store, plan frontier.Plan) error
}

// Begin begins a run, or continues it: it checks what the definition needs on this machine, opens the crawl in the frontier, restores
// a frontier that was lost, shows an order that learns its examples, and queues the seeds. It may be called any number of times.
// It returns the number of the run and of its seeds.
func (e *Engine) Begin(ctx context.Context, o Opening) (run uint32, seeds int, err error) {
	d := o.Definition
	if err := CheckThesaurus(d); err != nil {
		return 0, 0, err
	}
	found, bounding, err := Seeds(d)
	if err != nil {
		return 0, 0, err
	}
	var store archive.Store
	if o.Archive != nil {
		if store, err = o.Archive(ctx); err != nil {
			return 0, 0, err
		}
		if err := e.Inherit(ctx, store, d); err != nil {
			return 0, 0, err
		}
	}
	run, err = e.Frontier.Begin(d.Name, o.Owner, o.Run, d, bounding, false)
	if errors.Is(err, frontier.ErrBusy) && o.Abandoned != nil && o.Abandoned(ctx, d.Name) {
		run, err = e.Frontier.Begin(d.Name, o.Owner, o.Run, d, bounding, true)
	}
	if err != nil {
		return 0, 0, err
	}
	if err := e.open(ctx, o, store); err != nil {
		return 0, 0, err
	}
	e.reached(ctx, "queueing seeds")
	return run, len(found), e.queue(o, run, found)
}

// queue queues what a run begins with: the pages of earlier runs, and the seeds.
func (e *Engine) queue(o Opening, run uint32, seeds []crawl.Discovery) (err error) {
	c := e.Frontier.Crawl(o.Definition.Name)
	recrawl, id := fmt.Sprintf("recrawl-%d", run), fmt.Sprintf("seeds-%d-%s", run, o.Owner) // the owner that takes a run over may have other seeds
	if o.Epoch > 0 {
		id += fmt.Sprintf("-%d", o.Epoch)
	}
	if o.Parts {
		return c.Seed(run, o.Owner, frontier.SeedIDs{Recrawl: recrawl, Seeds: id}, seeds)
	}
	urls := c.URLs()
	if run > 1 {
		err = urls.Recrawl(recrawl)
	}
	if err == nil {
		err = urls.Offer(id, seeds)
	}
	if err == nil && o.Definition.Spread {
		err = c.Seeded(run, o.Owner, nil, 0)
	}
	return err
}

// open does what comes before the first URL of a run is queued.
func (e *Engine) open(ctx context.Context, o Opening, store archive.Store) error {
	d := o.Definition
	plan, err := e.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return err
	}
	if o.Opened != nil {
		if err := o.Opened(ctx, store, plan); err != nil {
			return err
		}
	}
	if plan.Restore && store != nil {
		if err := e.Restore(ctx, store, d); err != nil {
			return err
		}
	}
	taught, err := plan.Topic()
	if err != nil || taught != nil {
		return err
	}
	return e.ShowExamples(d.Name, false)
}

// CheckThesaurus reports whether the order of a crawl has the thesaurus that it needs on this machine: else an InputError.
func CheckThesaurus(d crawl.Definition) error {
	if err := score.CheckThesaurus(d.Order); err != nil {
		return &crawl.InputError{Message: err.Error()}
	}
	return nil
}

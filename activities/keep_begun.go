package activities

import (
	"context"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// keepBegun keeps in the archive of all workers that this one has begun the run of a spread crawl, or that the run has ended: others make its
// partitions again by that.
func (a *Activities) keepBegun(ctx context.Context, name string, ended bool, further ...frontier.Place) error {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return err
	}
	store, err := a.Archives.Open(ctx, "")
	if err != nil {
		return err
	}
	b := checkpoint.Begun{Definition: plan.Definition, Run: plan.Run, Bounds: plan.Bounds, Archives: slices.Concat(plan.Archives, further), Ended: ended, Started: plan.Started}
	return checkpoint.KeepBegun(ctx, store, a.Settings.Worker, b)
}

// keepPlace keeps so that a spread crawl is about to write to a further archive.
func (a *Activities) keepPlace(ctx context.Context, d crawl.Definition, to frontier.Place) error {
	if !d.Spread {
		return nil
	}
	plan, err := a.Frontier.Crawl(d.Name).Plan()
	if err != nil || slices.Contains(plan.Archives, to) {
		return err
	}
	return a.keepBegun(ctx, d.Name, false, to)
}

// lastBegun is the last run that any worker has kept so of a crawl, and whether one has ended it.
func (a *Activities) lastBegun(ctx context.Context, name string) (run uint32, ended bool, err error) {
	store, err := a.Archives.Open(ctx, "")
	if err != nil {
		return 0, false, err
	}
	return checkpoint.LastBegun(ctx, store, name)
}

// forgetKept deletes what any worker has kept of a crawl in the archive of all workers: that it has begun, and what was submitted.
func (a *Activities) forgetKept(ctx context.Context, name string) error {
	store, err := a.Archives.Open(ctx, "")
	if err == nil {
		err = checkpoint.ForgetSubmitted(ctx, store, name)
	}
	if err != nil || !a.Frontier.Spread(name) {
		return err
	}
	return checkpoint.ForgetBegun(ctx, store, name)
}

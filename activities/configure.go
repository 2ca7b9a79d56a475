package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// Configure puts a changed definition in force.
func (a *Activities) Configure(ctx context.Context, d crawl.Definition) error {
	if err := errors.Join(a.Allow.checkFiles(d), checkOverrides(d.Overrides)); err != nil {
		return err
	}
	if err := pipeline.CheckThesaurus(d); err != nil {
		return err
	}
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return err
	}
	plan, err := a.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return err
	}
	if err := a.Frontier.Crawl(d.Name).Configure(d); err != nil {
		return err
	}
	activity.GetLogger(ctx).Info("a changed definition is in force", "crawl", d.Name, "run", plan.Run)
	if l := a.Frontier.Crawl(d.Name).Learning().Order(); l != nil && l.Examples() == 0 {
		if err := a.Engine.ShowExamples(d.Name, !plan.Reference); err != nil { // which it has learned nothing of so far
			return err
		}
	}
	return a.keepDefinition(ctx, store, d, plan.Run)
}

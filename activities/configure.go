package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// Configure puts a changed definition in force.
func (a *Activities) Configure(ctx context.Context, d crawl.Definition) error {
	if err := a.Allow.checkFiles(d); err != nil {
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
	if l := a.Frontier.Crawl(d.Name).Learning().Order(); l != nil && l.Examples() == 0 {
		if err := a.Engine.ShowExamples(d.Name, !plan.Reference); err != nil { // which it has learned nothing of so far
			return err
		}
	}
	return a.keepDefinition(ctx, store, d, plan.Run)
}

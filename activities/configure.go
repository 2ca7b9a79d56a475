package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/share"
)

// ConfigureInput is a changed definition.
type ConfigureInput struct {
	crawl.Definition
	// Version counts the changes of a crawl that is spread: its workers learn of them one after the other. 0 in a crawl that is bound.
	Version int `json:"definition_version,omitempty"`
	// Allotments are what the worker of such a crawl may use of the budgets then: it claims nothing more of what a smaller one asks back.
	Allotments map[crawl.Reason]share.Allotment `json:"allotments,omitempty"`
}

// Configure puts a changed definition in force.
func (a *Activities) Configure(ctx context.Context, in ConfigureInput) error {
	d := in.Definition
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
	if d.Spread {
		a.Quotas.run(d.Name, plan.Owner, a.Membership.since()).recall(in.Allotments)
	}
	if err := a.Frontier.Crawl(d.Name).Configure(d, in.Version); err != nil {
		return err
	}
	activity.GetLogger(ctx).Info("a changed definition is in force", "crawl", d.Name, "run", plan.Run, "version", in.Version, "claimed_before", a.Frontier.Crawl(d.Name).Claims().Before(in.Version))
	if l := a.Frontier.Crawl(d.Name).Learning().Order(); l != nil && l.Examples() == 0 {
		if err := a.Engine.ShowExamples(d.Name, !plan.Reference); err != nil { // which it has learned nothing of so far
			return err
		}
	}
	return a.keepDefinition(ctx, store, d, plan.Run)
}

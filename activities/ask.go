package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/urls"
)

// AskInput asks the worker of a crawl.
type AskInput struct {
	Crawl string `json:"crawl"`
	Queue string `json:"queue"`         // of the worker; the status of the crawl tells it
	URL   string `json:"url,omitempty"` // of an explanation
	Dry   bool   `json:"dry,omitempty"` // tell what would be forgotten
}

// known tells what to do if the frontier does not know a crawl that somebody asks about.
func (a *Activities) known(name string) error {
	if a.Frontier.Knows(name) {
		return nil
	}
	return &crawl.InputError{Message: fmt.Sprintf("the frontier of worker %q does not know the crawl %s: its data folder was lost, or the crawl was forgotten; `muninn start` with its definition brings in what the archive knows", a.Settings.Worker, name)}
}

// Explain tells where a URL stands in a crawl, and why.
func (a *Activities) Explain(ctx context.Context, in AskInput) (frontier.Explanation, error) {
	u, err := urls.Parse(in.URL)
	if err != nil {
		return frontier.Explanation{}, &crawl.InputError{Message: fmt.Sprintf("%q is no URL: %v", in.URL, pipeline.Reason(err))}
	}
	if err := a.known(in.Crawl); err != nil {
		return frontier.Explanation{}, err
	}
	out, err := a.Frontier.Explain(in.Crawl, u)
	if out.Asking != nil {
		out.Waits = a.waits(ctx, out.Asking.IP, politeness.LeaseID{Crawl: in.Crawl, Worker: a.Settings.Worker, Claim: out.Asking.ID})
	}
	return out, err
}

// waitsTime is how long a politeness shard may take to tell what a claim waits for: the rest of an explanation does without.
const waitsTime = 5 * time.Second

// waits asks politeness what the ask for a lease waits for; nil if it does not, or nobody says.
func (a *Activities) waits(ctx context.Context, ip string, lease politeness.LeaseID) (w *politeness.Waiting) {
	ctx, cancel := context.WithTimeout(ctx, waitsTime)
	defer cancel()
	value, err := a.Client.QueryWorkflow(ctx, names.PolitenessID(Shard(ip, a.Settings.Shards)), "", names.QueryWaiting, ip, lease)
	if err != nil || value.Get(&w) != nil {
		return nil
	}
	return w
}

// Configure puts a changed definition in force.
func (a *Activities) Configure(ctx context.Context, d crawl.Definition) error {
	if err := a.checkFiles(d); err != nil {
		return err
	}
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return err
	}
	plan, err := a.Frontier.Plan(d.Name)
	if err != nil {
		return err
	}
	if err := a.Frontier.Configure(d.Name, d); err != nil {
		return err
	}
	if l := a.Frontier.Learner(d.Name); l != nil && l.Examples() == 0 {
		if err := a.Engine.ShowExamples(d.Name, !plan.Reference); err != nil { // which it has learned nothing of so far
			return err
		}
	}
	return a.keepDefinition(ctx, store, d, plan.Run)
}

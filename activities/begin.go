package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
)

// BeginInput begins or continues a run.
type BeginInput struct {
	Definition crawl.Definition `json:"definition"`
	Owner      string           `json:"owner"` // workflow ID "@" run ID of the first Crawl execution
	Holder                      // the worker that the crawl has chosen
	// Run is the number of the run, which the crawl chooses: NextRun. 0 in crawls of earlier versions: the frontier counts.
	Run uint32 `json:"run,omitempty"`
}

// BeginResult says what the run starts from.
type BeginResult struct {
	Run     uint32 `json:"run"`
	Seeds   int    `json:"seeds"`
	Archive string `json:"archive"` // where the segments go
	// Former is where the segments went before, if that was another archive: pages are archived whole again.
	Former string `json:"former_archive,omitempty"`
}

// Begin begins a run: it checks the archive, opens the crawl in the frontier, keeps the definition
// in the archive and queues the seeds. Continuing a run does no harm.
func (a *Activities) Begin(ctx context.Context, in BeginInput) (BeginResult, error) {
	d := in.Definition
	if err := a.Engine.Helper.Refresh(true); err != nil { // no crawl starts on a broken base
		return BeginResult{}, err
	}
	if err := a.checkFiles(d); err != nil {
		return BeginResult{}, err
	}
	for _, w := range d.Warnings() {
		activity.GetLogger(ctx).Warn("the definition may have a mistake", "crawl", d.Name, "field", w.Path, "why", w.Message)
	}
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return BeginResult{}, err
	}
	found, bounding, err := pipeline.Seeds(d)
	if err != nil {
		return BeginResult{}, err
	}
	if err := a.Engine.Inherit(ctx, store, d); err != nil {
		return BeginResult{}, err
	}
	run, err := a.Frontier.BeginRun(d.Name, in.Owner, in.Run, d, bounding, false)
	if errors.Is(err, frontier.ErrBusy) && a.abandoned(ctx, d.Name) {
		run, err = a.Frontier.BeginRun(d.Name, in.Owner, in.Run, d, bounding, true)
	}
	if err != nil {
		return BeginResult{}, err
	}
	if err := a.keepDefinition(ctx, store, d, run); err != nil {
		return BeginResult{}, err
	}
	plan, err := a.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return BeginResult{}, err
	}
	if plan.Restore {
		if _, _, err := a.settleArchive(ctx, d); err != nil {
			return BeginResult{}, err
		}
		if err := a.Engine.Restore(ctx, store, d); err != nil {
			return BeginResult{}, err
		}
	}
	taught, err := plan.Topic()
	if err != nil {
		return BeginResult{}, err
	}
	if taught == nil {
		if err := a.Engine.ShowExamples(d.Name, false); err != nil {
			return BeginResult{}, err
		}
	}
	activity.RecordHeartbeat(ctx, "queueing seeds")
	if run > 1 {
		if err := a.Frontier.Crawl(d.Name).URLs().Recrawl(fmt.Sprintf("recrawl-%d", run)); err != nil {
			return BeginResult{}, err
		}
	}
	// the workflow that takes a run over may have other seeds
	if err := a.Frontier.Crawl(d.Name).URLs().Offer(fmt.Sprintf("seeds-%d-%s", run, in.Owner), found); err != nil {
		return BeginResult{}, err
	}
	_, former, err := a.settleArchive(ctx, d)
	if err != nil {
		return BeginResult{}, err
	}
	out := BeginResult{Run: run, Seeds: len(found), Archive: store.String()}
	if former != nil {
		out.Former = former.String()
	}
	return out, nil
}

// checkFiles reports whether a crawl may read the files that it names, and whether its order has the thesaurus that it needs.
func (a *Activities) checkFiles(d crawl.Definition) error {
	if err := a.Allow.checkFiles(d); err != nil {
		return err
	}
	if err := score.CheckThesaurus(d.Order); err != nil {
		return &crawl.InputError{Message: err.Error()}
	}
	return nil
}

// abandoned reports whether the workflow that the run belongs to has ended without ending it: it was
// terminated, or failed.
func (a *Activities) abandoned(ctx context.Context, name string) bool {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return true
	}
	workflow, run, _ := strings.Cut(plan.Owner, "@")
	open, err := a.isOpen(ctx, workflow, run)
	return err == nil && !open
}

// layout makes the keys of a crawl.
func layout(d crawl.Definition) archive.Layout {
	return archive.Layout{Prefix: d.Archive.Prefix, Crawl: d.Name}
}

// keepDefinition keeps the definition in the archive; one that continues a run under other terms gets
// a name of its own.
func (a *Activities) keepDefinition(ctx context.Context, store archive.Store, d crawl.Definition, run uint32) error {
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	key := layout(d).Definition(run)
	err = store.PutIfAbsent(ctx, key, raw)
	if !errors.Is(err, archive.ErrExists) {
		return err
	}
	before, err := archive.ReadAll(ctx, store, key, crawl.MaxDefinition)
	if err != nil || bytes.Equal(before, raw) {
		return err
	}
	err = store.PutIfAbsent(ctx, layout(d).ChangedDefinition(run, raw), raw)
	if errors.Is(err, archive.ErrExists) {
		return nil
	}
	return err
}

package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/scope"
)

// BeginInput begins or continues a run.
type BeginInput struct {
	Definition crawl.Definition `json:"definition"`
	Owner      string           `json:"owner"` // workflow ID "@" run ID of the first Crawl execution
	Holder                      // the worker that the crawl has chosen
	// Run is the number of the run, which the crawl chooses: NextRun. 0 in crawls of earlier versions: the frontier counts.
	Run uint32 `json:"run,omitempty"`
	// Elapsed is how long the run of a crawl that is spread takes so far: a worker that joins knows from it when the run began, by its own clock.
	Elapsed time.Duration `json:"elapsed,omitempty"`
	// Parts begins the run of a crawl that is spread with the partitions in which the worker may queue seeds now. Those that are on their way get theirs from who loads or
	// rebuilds them, or by QueueRest, which waits for them: see BeginResult.Unseeded. Without it Begin waits for all, within one epoch of the ring.
	Parts bool `json:"parts,omitempty"`
	Rest  bool `json:"rest,omitempty"` // of a crawl of an earlier version: it stands for QueueRest
}

// BeginResult says what the run starts from.
type BeginResult struct {
	Run     uint32 `json:"run"`
	Seeds   int    `json:"seeds"`
	Archive string `json:"archive"` // where the segments go
	// Scope is what the crawl may fetch, in words; empty of an earlier version.
	Scope string `json:"scope,omitempty"`
	// Former is where the segments went before, if that was another archive: pages are archived whole again.
	Former string `json:"former_archive,omitempty"`
	// Epoch is that of the ring by which a spread crawl has kept the seeds of the worker's partitions. In a crawl that does not begin by BeginInput.Parts, each seed is with
	// one of the workers only if all have begun by one epoch: those that have begun by an earlier one begin again, which does no harm.
	Epoch uint64 `json:"epoch,omitempty"`
	// Unseeded says that seeds, or pages of earlier runs, are not queued yet: their partitions are on their way from or to this worker.
	Unseeded bool `json:"unseeded,omitempty"`
	// Life is the epoch in which the ring accepted this process: the worker of a spread crawl is allotted its first part of the budgets by it.
	Life uint64 `json:"life,omitempty"`
	// Started is when this folder began the run, perhaps by an earlier execution of the crawl; zero of an earlier version.
	Started time.Time `json:"started,omitzero"`
}

// How Begin waits for the ring of workers.
const (
	beginPause = time.Second
	beginWait  = 10 * time.Minute // then Temporal shows why, and tries again
)

// Begin begins a run: it checks the archive, opens the crawl in the frontier, keeps the definition
// in the archive and queues the seeds. Continuing a run does no harm. While the ring changes it tries again by itself: Temporal's pauses between attempts
// grow to a minute, and a ring in which workers come and go is not quiet just then.
func (a *Activities) Begin(ctx context.Context, in BeginInput) (out BeginResult, err error) {
	if in.Rest {
		return out, a.QueueRest(ctx, RestInput{Crawl: in.Definition.Name, Owner: in.Owner, Run: in.Run, Holder: in.Holder})
	}
	waiting, release := untilStopped(ctx)
	defer release()
	for end := a.Now().Add(beginWait); ; {
		out, err = a.beginOnce(ctx, in)
		if !errors.Is(err, ring.ErrNotNow) || !a.Now().Before(end) {
			return out, err
		}
		why := err.Error()
		heartbeatWith(ctx, func() any { return why })
		select {
		case <-waiting.Done():
			return out, err
		case <-time.After(beginPause):
		}
	}
}

func (a *Activities) beginOnce(ctx context.Context, in BeginInput) (BeginResult, error) {
	d := in.Definition
	if err := a.Engine.Helper.Refresh(true); err != nil { // no crawl starts on a broken base
		return BeginResult{}, err
	}
	if err := errors.Join(a.Allow.checkFiles(d), a.Allow.checkRobots(d), a.checkBrowser(d), checkOverrides(d.Overrides)); err != nil {
		return BeginResult{}, err
	}
	for _, w := range d.Warnings() {
		activity.GetLogger(ctx).Warn("the definition may have a mistake", "crawl", d.Name, "field", w.Path, "why", w.Message)
	}
	epoch, err := a.epochFor(d)
	if err != nil {
		return BeginResult{}, err
	}
	run, seeds, err := a.Engine.Begin(ctx, pipeline.Opening{
		Definition: d, Owner: in.Owner, Run: in.Run, Epoch: epoch, Parts: in.Parts,
		Archive:   func(ctx context.Context) (archive.Store, error) { return a.Archives.Open(ctx, d.Archive.Where) },
		Abandoned: a.abandoned,
		Opened: func(ctx context.Context, store archive.Store, plan frontier.Plan) error {
			err := errors.Join(a.Frontier.Crawl(d.Name).Since(in.Elapsed), a.keepDefinition(ctx, store, d, plan.Run))
			// what is restored is of this archive; and seeds may wait for a partition that is rebuilt of it
			if err == nil && (plan.Restore || d.Spread) {
				_, _, err = a.chooseArchive(ctx, d)
			}
			if err == nil && d.Spread {
				err = a.keepBegun(ctx, d.Name, false)
			}
			return err
		},
	})
	if err != nil {
		return BeginResult{}, err
	}
	store, former, err := a.chooseArchive(ctx, d)
	if err != nil {
		return BeginResult{}, err
	}
	if now, err := a.epochFor(d); err != nil || now != epoch && !in.Parts {
		return BeginResult{}, errors.Join(err, fmt.Errorf("begin %s: %w: the ring has changed meanwhile", d.Name, ring.ErrNotNow))
	}
	plan, err := a.Frontier.Crawl(d.Name).Plan()
	if err != nil {
		return BeginResult{}, err
	}
	out := BeginResult{Run: run, Seeds: seeds, Archive: store.String(), Scope: scope.Words(d, plan.Bounds), Epoch: epoch, Started: plan.Started, Unseeded: in.Parts && plan.Unseeded}
	if d.Spread {
		out.Life = a.Membership.since()
	}
	if former != nil {
		out.Former = former.String()
	}
	return out, nil
}

// epochFor is the epoch of the ring by which a crawl acts; 0 if it is bound to this worker.
func (a *Activities) epochFor(d crawl.Definition) (uint64, error) {
	if !d.Spread {
		return 0, nil
	}
	if a.Membership == nil {
		return 0, &crawl.InputError{Message: fmt.Sprintf("crawl %s is spread over the ring of workers, and this worker is in none: set spread to false", d.Name)}
	}
	epoch := a.Membership.Rights().Epoch()
	if epoch == 0 {
		return 0, fmt.Errorf("%s: %w: it has no permit of the ring of workers", d.Name, ring.ErrNotNow)
	}
	return epoch, nil
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

// keepDefinition keeps the definition in the archive; one that continues a run under other terms gets
// a name of its own.
func (a *Activities) keepDefinition(ctx context.Context, store archive.Store, d crawl.Definition, run uint32) error {
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	key := archive.LayoutOf(d).Definition(run)
	err = store.PutIfAbsent(ctx, key, raw)
	if !errors.Is(err, archive.ErrExists) {
		return err
	}
	before, err := archive.ReadAll(ctx, store, key, crawl.MaxDefinition)
	if err != nil || bytes.Equal(before, raw) {
		return err
	}
	err = store.PutIfAbsent(ctx, archive.LayoutOf(d).ChangedDefinition(run, raw), raw)
	if errors.Is(err, archive.ErrExists) {
		return nil
	}
	return err
}

package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Batch takes a batch through its steps: FETCH, AAH, SCORE, ARCHIVE, the delivery of what it has found for other workers, commit. If a step fails for
// good, what was fetched is archived if that can be done, the other URLs go back to their queues and the workflow fails with
// the reason; reset or run again, it does the work that is left, and archives nothing twice.
func Batch(ctx workflow.Context, in activities.BatchInput) (activities.BatchResult, error) {
	b := batch{in: in}
	if in.Owed != nil {
		err := b.resume(ctx)
		return b.out, err
	}
	err := b.run(ctx)
	if err != nil && !workflow.IsContinueAsNewError(err) {
		if !temporal.IsCanceledError(err) {
			err = failure(workflow.GetInfo(ctx).WorkflowExecution.ID, err)
		}
		b.state(ctx, crawl.BatchFailed, reasonOf(err))
		workflow.GetLogger(ctx).Warn("the batch failed; URLs that it has not fetched go back to their queues", "crawl", in.Crawl, "batch", in.Batch, "error", err)
		workflow.GetMetricsHandler(ctx).Counter(failedBatches).Inc(1)
		b.failed = reasonOf(err)
		if next := b.giveBack(ctx); workflow.IsContinueAsNewError(next) {
			err = next
		}
	}
	return b.out, err
}

// failedBatches is the name of a metric.
const failedBatches = "muninn_failed_batches"

type batch struct {
	in  activities.BatchInput
	out activities.BatchResult
	// owed is what it has to deliver after it is committed; nil: nothing.
	owed *activities.DeliverInput
	// said says that its crawl was sent word of that, see versionOwes.
	said bool
	// until is when it ends with links that are not delivered, because it was cancelled; zero: never.
	until time.Time
	// failed is why it has failed; empty: it has not.
	failed string
}

func (b *batch) run(ctx workflow.Context) error {
	open, err := b.open(ctx)
	if err != nil || open.Done {
		return err
	}
	if !open.Archived {
		if err := b.lease(ctx, open.Asks); err != nil {
			return err
		}
		if err := b.fetch(ctx); err != nil {
			return err
		}
		if err := b.process(ctx); err != nil {
			return err
		}
	}
	return b.commit(ctx)
}

func (b *batch) open(ctx workflow.Context) (activities.OpenResult, error) {
	var open activities.OpenResult
	err := workflow.ExecuteLocalActivity(withLocalOptions(ctx, "open the claims"), steps.Open, b.in).Get(ctx, &open)
	b.out.URLs = open.URLs
	if open.Done {
		b.out.Note = "nothing of it is left to do: it was committed, or other batches took its URLs"
	}
	return open, err
}

func (b *batch) fetch(ctx workflow.Context) error {
	return workflow.ExecuteActivity(withFetchOptions(ctx, fmt.Sprintf("FETCH %d URLs of %d hosts", b.out.URLs, len(b.in.Claims))), steps.FetchTargets, b.in).Get(ctx, &b.out.Fetched)
}

// process is AAH, SCORE and ARCHIVE.
func (b *batch) process(ctx workflow.Context) error {
	var out activities.ProcessResult
	err := workflow.ExecuteActivity(withWorkOptions(ctx, "AAH, SCORE, ARCHIVE: understand, score and archive the pages"), steps.Process, b.in).Get(ctx, &out)
	b.out.Analysed, b.out.Scored, b.out.Archived = out.Analysed, out.Scored, out.Archived
	return err
}

// commit commits what is archived, and delivers before what other workers have to queue.
func (b *batch) commit(ctx workflow.Context) error {
	for {
		if err := b.deliver(ctx); err != nil {
			return err
		}
		err := workflow.ExecuteLocalActivity(withLocalOptions(ctx, "commit to the frontier"), steps.Commit, b.in).Get(ctx, nil)
		if undelivered(err) {
			if err = workflow.Sleep(ctx, deliverPause); err == nil {
				continue
			}
		}
		if err == nil {
			err = b.deliverOwed(ctx)
		}
		if err == nil {
			b.state(ctx, crawl.BatchDone, b.summary())
		}
		return err
	}
}

func (b *batch) giveBack(cancellable workflow.Context) error {
	ctx, cancel := workflow.NewDisconnectedContext(cancellable)
	defer cancel()
	for {
		err := workflow.ExecuteActivity(withQueueOptions(ctx, "", "give the URLs back"), steps.GiveBack, b.in).Get(ctx, nil)
		if undelivered(err) { // what it has fetched is archived, and a partition that is handed over waits for its claims
			if err = b.deliver(ctx); err == nil {
				err = workflow.Sleep(ctx, deliverPause)
			}
			if err == nil {
				continue
			}
		}
		if err == nil {
			err = b.deliverOwed(cancellable)
		}
		if err != nil && !workflow.IsContinueAsNewError(err) {
			workflow.GetLogger(ctx).Error("give back", "error", err)
		}
		return err
	}
}

// state shows in the UI where the batch stands.
func (b *batch) state(ctx workflow.Context, state crawl.BatchState, details string) {
	updates := []temporal.SearchAttributeUpdate{names.AttrState.ValueSet(string(state))}
	if a := b.out.Archived; a != nil && state == crawl.BatchDone {
		updates = append(updates, names.AttrPages.ValueSet(int64(a.Pages)), names.AttrErrors.ValueSet(int64(b.out.Fetched.Kinds[crawl.OutcomeFailed])))
	}
	_ = workflow.UpsertTypedSearchAttributes(ctx, updates...) // for the operator's eyes only
	if details != "" {
		workflow.SetCurrentDetails(ctx, details)
	}
}

func (b *batch) summary() string {
	out := fmt.Sprintf("%d URLs", b.out.URLs)
	if s := b.out.Scored; s != nil {
		out += fmt.Sprintf(", %d of %d scored pages relevant", s.Relevant, s.Pages)
	}
	if a := b.out.Archived; a != nil && a.WARC != "" {
		out += "\n\narchived in `" + a.WARC + "`"
	}
	return out
}

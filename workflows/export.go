package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/export"
)

// Exporting says what is exported.
type Exporting struct {
	activities.Exported
	State *ExportState `json:"state,omitempty"` // of an execution that has continued as new
}

// ExportState is carried from execution to execution.
type ExportState struct {
	Planned export.Planned `json:"planned"`
	Done    int            `json:"done"` // the first so many parts are written
	ExportProgress
}

// ExportProgress is what the query "status" says.
type ExportProgress struct {
	State   string `json:"state"` // planning, writing, finishing or done
	Parts   int    `json:"parts"`
	Written int    `json:"written"` // parts
	Passed  int    `json:"passed"`  // of them: they were there already
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Missing int    `json:"missing"` // lines of the list of what cannot be exported
}

// The bounds of an Export workflow.
const (
	exportWindow  = 8             // parts that are scheduled at a time
	exportPage    = 200           // parts of a listing
	exportTimeout = 6 * time.Hour // a part
)

// The states of an Export workflow.
const (
	statePlanning  = "planning"
	stateWriting   = "writing"
	stateFinishing = "finishing"
)

// Export copies captures of an archive, and what they need, into files of one size: it plans, writes the parts, some at a time, and puts the manifest last. What is written is decided by the archive and the
// order: it may be reset or terminated at any time, and another execution passes over the parts that are there.
func Export(ctx workflow.Context, in Exporting) (export.Result, error) {
	r := &exportRun{Exporting: in}
	err := r.begin(ctx)
	for more := true; err == nil && more; {
		more, err = r.writeSome(ctx)
	}
	if err != nil {
		return export.Result{}, err
	}
	return r.finish(ctx)
}

// exportRun is an execution of Export.
type exportRun struct {
	Exporting
	ExportState
	queue string
}

// begin serves the query, and plans.
func (r *exportRun) begin(ctx workflow.Context) error {
	resumed := r.Exporting.State
	if resumed != nil {
		r.ExportState = *resumed
	}
	r.Exporting.State = nil
	r.queue = names.DeriveQueue(workflow.GetInfo(ctx).TaskQueueName)
	err := workflow.SetQueryHandlerWithOptions(ctx, names.QueryStatus, func() (ExportProgress, error) { return r.ExportProgress, nil }, workflow.QueryHandlerOptions{
		Description: "what was exported so far",
	})
	if err != nil || resumed != nil {
		return err
	}
	r.show(ctx, statePlanning)
	err = workflow.ExecuteActivity(withExportPlanOptions(ctx, r.queue, "what does "+r.Name+" consist of?"), steps.PlanExport, r.Exported).Get(ctx, &r.Planned)
	r.Parts, r.Missing = r.Planned.Parts, r.Planned.Missing
	return err
}

// writeSome writes the parts of a listing; more says that there are others behind them.
func (r *exportRun) writeSome(ctx workflow.Context) (more bool, err error) {
	if r.Done >= r.Parts {
		return false, nil
	}
	r.show(ctx, stateWriting)
	var plans []string
	in := activities.PartsInput{ExportPlaces: r.ExportPlaces(), Outline: r.Planned.Outline, From: r.Done, Most: exportPage}
	if err := workflow.ExecuteActivity(withExportPlanOptions(ctx, r.queue, "which parts follow?"), steps.ListParts, in).Get(ctx, &plans); err != nil {
		return false, err
	}
	if len(plans) == 0 {
		return false, temporal.NewNonRetryableApplicationError(fmt.Sprintf("the outline %s has fewer parts than the %d that were planned", r.Planned.Outline, r.Parts), activities.ErrorInput, nil)
	}
	if err := r.write(ctx, plans); err != nil {
		return false, err
	}
	r.Done += len(plans)
	r.show(ctx, stateWriting)
	if r.Done < r.Parts && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		next := r.Exporting
		next.State = &r.ExportState
		return false, workflow.NewContinueAsNewError(ctx, names.Export, next)
	}
	return r.Done < r.Parts, nil
}

// write writes parts, some at a time.
func (r *exportRun) write(ctx workflow.Context, plans []string) (err error) {
	next, running := 0, 0
	done := workflow.NewSelector(ctx)
	for {
		for ; running < exportWindow && next < len(plans) && err == nil; next++ {
			running++
			in := activities.PartInput{ExportPlaces: r.ExportPlaces(), Plan: plans[next]}
			done.AddFuture(workflow.ExecuteActivity(withExportPartOptions(ctx, r.queue, plans[next]), steps.ExportPart, in), func(f workflow.Future) {
				running--
				var result activities.PartResult
				if failed := f.Get(ctx, &result); failed == nil {
					r.count(result)
				} else if err == nil {
					err = failed
				}
			})
		}
		if running == 0 {
			return err
		}
		done.Select(ctx)
	}
}

func (r *exportRun) count(p activities.PartResult) {
	r.Written++
	r.Records += int64(p.Records)
	r.Bytes += p.Bytes
	if p.Passed {
		r.Passed++
	}
}

// finish puts the manifest.
func (r *exportRun) finish(ctx workflow.Context) (out export.Result, err error) {
	r.show(ctx, stateFinishing)
	in := activities.FinishInput{ExportPlaces: r.ExportPlaces(), Outline: r.Planned.Outline}
	err = workflow.ExecuteActivity(withExportPlanOptions(ctx, r.queue, "put the manifest of "+r.Name), steps.FinishExport, in).Get(ctx, &out)
	if out.Passed = r.Passed; err == nil {
		r.show(ctx, stateDone)
	}
	return out, err
}

// show shows the progress in the UI.
func (r *exportRun) show(ctx workflow.Context, state string) {
	r.ExportProgress.State = state
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %d of %s to %s, %s, %.1f MB", state, r.Written, count(int64(r.Parts), "part"), r.To, count(r.Records, "record"), float64(r.Bytes)/1e6)
	if r.Missing > 0 {
		fmt.Fprintf(&b, "; %s cannot be exported", count(int64(r.Missing), "URL"))
	}
	workflow.SetCurrentDetails(ctx, b.String())
	_ = workflow.UpsertTypedSearchAttributes(ctx, names.AttrState.ValueSet(state))
}

// withExportPlanOptions is for the steps of an export that read the archive's indexes, or little.
func withExportPlanOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: walkTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withExportPartOptions is for writing a part of an export.
func withExportPartOptions(ctx workflow.Context, queue, plan string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: exportTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: "write " + plan, WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

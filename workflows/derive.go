package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
)

// Derivation says what is derived.
type Derivation struct {
	activities.DerivableInput
	// Follow says that what a crawl archives while it runs is derived, too: the workflow ends after all of the crawls have ended.
	Follow bool         `json:"follow,omitempty"`
	State  *DeriveState `json:"state,omitempty"` // of an execution that has continued as new
}

// DeriveState is carried from execution to execution.
type DeriveState struct {
	Of    []activities.DerivedFrom `json:"of"`              // crawls and steps, one after the other
	At    int                      `json:"at"`              // the one that is derived
	After string                   `json:"after,omitempty"` // its cursor: segments up to that are done in this pass
	Runs  bool                     `json:"runs,omitempty"`  // a crawl ran in this pass
	// Caught says which of Of have all their segments in the views: what is derived from now on is added by its name. Empty: there are no views.
	Caught   []bool `json:"caught,omitempty"`
	Stopping bool   `json:"stopping,omitempty"`
	DeriveProgress
}

// DeriveProgress is what the query "status" and the result of the workflow say.
type DeriveProgress struct {
	State    string   `json:"state"`           // deriving, following, stopped or done
	Crawl    string   `json:"crawl,omitempty"` // that is derived
	Step     string   `json:"step,omitempty"`
	Segments int64    `json:"segments"` // that were derived
	Captures int64    `json:"captures"`
	Lines    int64    `json:"lines"`
	Failed   int64    `json:"failed"`            // captures that could not be understood
	Bytes    int64    `json:"bytes"`             // of data
	Damaged  []string `json:"damaged,omitempty"` // segments that cannot be read, as CRAWL/SEGMENT: reason; the first
	// DamagedMore is the number of further ones.
	DamagedMore int64 `json:"damaged_more,omitempty"`
	Viewed      int64 `json:"viewed,omitempty"` // segments that were added to the full-text index of the workers' database
	// Behind are crawls of which the database lacks segments, as CRAWL: reason; the first. The next pass adds them.
	Behind []string `json:"behind,omitempty"`
	// Unreadable are those of Damaged, and further ones, as STEP CRAWL/SEGMENT: they are not tried again by this workflow.
	Unreadable []string `json:"unreadable,omitempty"`
}

// The bounds of a Derive workflow.
const (
	deriveWindow  = 8                // segments that are scheduled at a time
	derivePage    = 500              // segments of a listing
	derivePause   = 20 * time.Second // between two passes that follow a crawl
	maxDamaged    = 20               // of DeriveProgress.Damaged
	maxUnreadable = 1000
	deriveTimeout = 2 * time.Hour   // a segment
	viewsWindow   = 40              // segments that are derived before they are added to the views
	viewsStart    = 5 * time.Minute // until a worker that has the database takes them
	viewsAttempts = 5
)

// The states of a Derive workflow.
const (
	stateDeriving  = "deriving"
	stateFollowing = "following"
	stateStopped   = "stopped"
	stateDone      = "done"
)

// Derive has steps derive what they have not yet of the segments of crawls, a segment and step at a time. What is derived is in the archive: it may be stopped, reset or terminated at any time, and another execution passes over
// it. A segment that cannot be read is named in the result, and the others are derived.
func Derive(ctx workflow.Context, in Derivation) (DeriveProgress, error) {
	r := &deriveRun{Derivation: in}
	if err := r.begin(ctx); err != nil {
		return r.DeriveProgress, err
	}
	for {
		if err := r.pass(ctx); err != nil {
			return r.DeriveProgress, err
		}
		if r.Stopping || !r.Follow || !r.Runs {
			return r.end(ctx)
		}
		r.At, r.After, r.Runs = 0, "", false
		r.show(ctx, stateFollowing)
		if _, err := workflow.AwaitWithTimeout(ctx, derivePause, func() bool { return r.Stopping }); err != nil {
			return r.DeriveProgress, err
		}
		if err := r.continueAsNew(ctx); err != nil {
			return r.DeriveProgress, err
		}
	}
}

// deriveRun is an execution of Derive.
type deriveRun struct {
	Derivation
	DeriveState
	shown shownProgress
}

// shownProgress is what the search attributes have.
type shownProgress struct {
	state          string
	lines, damaged int64
}

// begin serves the query and the signal, and finds what is to be derived.
func (r *deriveRun) begin(ctx workflow.Context) error {
	resumed := r.Derivation.State
	if resumed != nil {
		r.DeriveState = *resumed
	}
	r.Derivation.State = nil
	err := workflow.SetQueryHandlerWithOptions(ctx, names.QueryStatus, func() (DeriveProgress, error) { return r.DeriveProgress, nil }, workflow.QueryHandlerOptions{
		Description: "what was derived so far, and what could not be",
	})
	if err != nil {
		return err
	}
	onSignal(ctx, names.SignalStop, func(workflow.Context) { r.Stopping = true })
	if len(r.Crawls) == 1 {
		if err := workflow.UpsertTypedSearchAttributes(ctx, names.AttrCrawl.ValueSet(r.Crawls[0])); err != nil {
			return err
		}
	}
	if resumed != nil {
		return nil
	}
	return workflow.ExecuteActivity(withQueueOptions(ctx, "", "which crawls are to be derived?"), steps.Derivable, r.DerivableInput).Get(ctx, &r.Of)
}

// pass derives what is pending of each crawl and step.
func (r *deriveRun) pass(ctx workflow.Context) error {
	for ; r.At < len(r.Of) && !r.Stopping; r.At, r.After = r.At+1, "" {
		r.Crawl, r.Step = r.Of[r.At].Crawl, r.Of[r.At].Step
		for more := true; more && !r.Stopping; {
			r.show(ctx, stateDeriving)
			var page activities.PendingSegments
			in := activities.PendingInput{DerivedFrom: r.Of[r.At], After: r.After, Most: derivePage, Follow: r.Follow}
			if err := workflow.ExecuteActivity(withQueueOptions(ctx, "", fmt.Sprintf("what has %s to derive of %s?", r.Step, r.Crawl)), steps.Pending, in).Get(ctx, &page); err != nil {
				return err
			}
			r.Runs = r.Runs || page.Runs
			if err := r.deriveAndView(ctx, page); err != nil {
				return err
			}
			if more = page.More && len(page.Segments) > 0; !more || r.Stopping {
				continue
			}
			r.After = page.Segments[len(page.Segments)-1]
			if err := r.continueAsNew(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// deriveAndView derives a page of segments, and adds them to the views if the workers have such: some at a time, so that readers find them soon. Whether
// there are views stands in the page: in histories of earlier versions it says no.
func (r *deriveRun) deriveAndView(ctx workflow.Context, page activities.PendingSegments) error {
	if !page.Views {
		return r.derive(ctx, page.Segments)
	}
	for part := range slices.Chunk(page.Segments, viewsWindow) {
		if err := r.derive(ctx, part); err != nil {
			return err
		}
		if r.behind() < 0 { // else all of the crawl is added at its end
			if err := r.view(ctx, part); err != nil {
				return err
			}
		}
		if r.Stopping {
			return nil
		}
	}
	if r.Caught == nil {
		r.Caught = make([]bool, len(r.Of))
	}
	if r.Caught[r.At] || page.More && len(page.Segments) > 0 {
		return nil
	}
	return r.view(ctx, nil) // what an earlier execution has derived, too
}

// behind is the index of the crawl in Behind; -1: it is not there.
func (r *deriveRun) behind() int {
	return slices.IndexFunc(r.Behind, func(b string) bool { return strings.HasPrefix(b, r.Of[r.At].Crawl+": ") })
}

// view adds segments to the views; nil: all of the crawl. A database that cannot be reached does not keep segments from being derived.
func (r *deriveRun) view(ctx workflow.Context, segments []string) error {
	of := r.Of[r.At]
	summary := fmt.Sprintf("%s of %s in the views", count(int64(len(segments)), "segment"), of.Crawl)
	if segments == nil {
		summary = "all of " + of.Crawl + " in the views"
	}
	queue := names.ViewsQueue(workflow.GetInfo(ctx).TaskQueueName)
	var result activities.ViewsResult
	err := workflow.ExecuteActivity(withViewsOptions(ctx, queue, summary), steps.Views, activities.ViewsInput{DerivedFrom: of, Segments: segments}).Get(ctx, &result)
	if err != nil && ctx.Err() != nil {
		return err
	}
	at := r.behind()
	switch {
	case err != nil:
		if r.Caught != nil {
			r.Caught[r.At] = false
		}
		if at < 0 && len(r.Behind) < maxDamaged {
			r.Behind = append(r.Behind, of.Crawl+": "+reasonOf(err))
		}
	case segments == nil:
		r.Caught[r.At] = true
		if at >= 0 {
			r.Behind = slices.Delete(r.Behind, at, at+1)
		}
	}
	r.Viewed += int64(result.Texts)
	return nil
}

// derive derives segments, some at a time. After a stop it begins no further one. The error is that of a step that cannot succeed, or of a workflow that is cancelled.
func (r *deriveRun) derive(ctx workflow.Context, segments []string) (err error) {
	of, next, running := r.Of[r.At], 0, 0
	queue := names.DeriveQueue(workflow.GetInfo(ctx).TaskQueueName)
	done := workflow.NewSelector(ctx)
	for {
		for ; running < deriveWindow && next < len(segments) && err == nil && !r.Stopping; next++ {
			segment := segments[next]
			if slices.Contains(r.Unreadable, unreadable(of, segment)) {
				continue
			}
			running++
			summary := fmt.Sprintf("%s of %s", of.Step, segment)
			done.AddFuture(workflow.ExecuteActivity(withDeriveOptions(ctx, queue, summary), steps.Derive, activities.DeriveInput{DerivedFrom: of, Segment: segment}), func(f workflow.Future) {
				running--
				var result activities.DeriveResult
				switch failed := f.Get(ctx, &result); {
				case failed == nil:
					r.count(result)
				case ofType(failed, activities.ErrorDamaged) != nil:
					r.damaged(of, segment, reasonOf(failed))
				case err == nil:
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

func (r *deriveRun) count(d activities.DeriveResult) {
	if d.Known {
		return
	}
	r.Segments++
	r.Captures += int64(d.Captures)
	r.Lines += int64(d.Lines)
	r.Failed += int64(d.Failed)
	r.Bytes += d.Bytes
}

// unreadable names a segment that a step cannot read.
func unreadable(of activities.DerivedFrom, segment string) string {
	return of.Step + " " + of.Crawl + "/" + segment
}

func (r *deriveRun) damaged(of activities.DerivedFrom, segment, reason string) {
	if len(r.Damaged) < maxDamaged {
		r.Damaged = append(r.Damaged, of.Crawl+"/"+segment+": "+reason)
	} else {
		r.DamagedMore++
	}
	if len(r.Unreadable) < maxUnreadable {
		r.Unreadable = append(r.Unreadable, unreadable(of, segment))
	}
}

// continueAsNew ends the execution if its history is long; nil if it is not.
func (r *deriveRun) continueAsNew(ctx workflow.Context) error {
	if !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return nil
	}
	if err := drainSignals(ctx); err != nil {
		return err
	}
	next := r.Derivation
	next.State = &r.DeriveState
	return workflow.NewContinueAsNewError(ctx, names.Derive, next)
}

// end is the result.
func (r *deriveRun) end(ctx workflow.Context) (DeriveProgress, error) {
	state := stateDone
	if r.Stopping {
		state = stateStopped
	}
	r.show(ctx, state)
	return r.DeriveProgress, nil
}

// show shows the progress in the UI: the details at once, the search attributes where they have changed.
func (r *deriveRun) show(ctx workflow.Context, state string) {
	r.DeriveProgress.State = state
	workflow.SetCurrentDetails(ctx, r.describe())
	now := shownProgress{state, r.Lines, int64(len(r.Damaged)) + r.DamagedMore}
	if now == r.shown {
		return
	}
	r.shown = now
	_ = workflow.UpsertTypedSearchAttributes(ctx, []temporal.SearchAttributeUpdate{
		names.AttrState.ValueSet(state), names.AttrPages.ValueSet(now.lines), names.AttrErrors.ValueSet(now.damaged),
	}...)
}

// describe sums the derivation up: all that counts in the first line.
func (r *deriveRun) describe() string {
	p := &r.DeriveProgress
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s, %s of %s, %.1f MB", p.State, count(p.Segments, "segment"), count(p.Lines, "line"), count(p.Captures, "capture"), float64(p.Bytes)/1e6)
	if p.Failed > 0 {
		fmt.Fprintf(&b, "; %s could not be understood", count(p.Failed, "capture"))
	}
	if p.Viewed > 0 {
		fmt.Fprintf(&b, "; %s in the views", count(p.Viewed, "segment"))
	}
	for _, behind := range p.Behind {
		fmt.Fprintf(&b, "\n\n**The views are behind**, %s.", behind)
	}
	if p.State == stateDeriving {
		fmt.Fprintf(&b, "\n\nNow: `%s` of `%s`.", p.Step, p.Crawl)
	}
	for _, d := range p.Damaged {
		fmt.Fprintf(&b, "\n\n**Damaged in the archive**: %s.", d)
	}
	if p.DamagedMore > 0 {
		fmt.Fprintf(&b, "\n\n**Damaged in the archive**: and %d more.", p.DamagedMore)
	}
	return b.String()
}

// withDeriveOptions is for the derivation of a segment, on the queue of all workers.
func withDeriveOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: deriveTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, WaitForCancellation: true, RetryPolicy: retryForever(),
	})
}

// withViewsOptions is for additions to the views, on the queue of the workers that have their database. They end some time: views that are lost are no loss.
func withViewsOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToStartTimeout: viewsStart, StartToCloseTimeout: walkTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: summary, WaitForCancellation: true,
		RetryPolicy: retryAtMost(viewsAttempts),
	})
}

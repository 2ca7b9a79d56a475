package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/muninn-archive/muninn/activities/names"
)

// LostInput names a data folder that the ring has given up, and a spread crawl.
type LostInput struct {
	Crawl string `json:"crawl"`
	// Holder is the data folder; without an instance, all that the worker has had.
	Holder
	// Batches are those that it has left open, of LostBatches.
	Batches []string `json:"batches,omitempty"`
	// Taken are partitions whose owners have all that the batches have found there.
	Taken []int `json:"taken,omitempty"`
	// Since is when the run began: batches that an operator has terminated since then count as left open. Zero: none does, as in an earlier version.
	Since time.Time `json:"since,omitzero"`
	// Count says that LostBatches is to count them alone. An earlier version names them.
	Count bool `json:"count,omitempty"`
}

// LostResult is what one of the steps for a lost worker says; see LostInput.
type LostResult struct {
	Batches []string `json:"batches,omitempty"`
	Taken   []int    `json:"taken,omitempty"`
	Open    int      `json:"open,omitempty"` // how many batches there are
}

// LostBatches lists the batches of a crawl that a data folder has left open. Those that it had archived have perhaps not delivered what they found.
// It comes before they are terminated. A batch that an operator has terminated counts as open: see LostInput.Since.
func (a *Activities) LostBatches(ctx context.Context, in LostInput) (out LostResult, err error) {
	left, err := a.leftBatches(ctx, in.Crawl, in.Holder, in.Since)
	for _, w := range left {
		if batch, is := names.BatchOf(in.Crawl, w.id); is {
			out.Batches = append(out.Batches, batch)
		}
	}
	slices.Sort(out.Batches)
	out.Batches = slices.Compact(out.Batches)
	if out.Open = len(out.Batches); in.Count {
		out.Batches = nil
	}
	return out, err
}

// listedBatch is the workflow of a batch, as Temporal's visibility has it.
type listedBatch struct {
	id, run string
	// instance is that of the data folder that holds it, if known; that of a batch of the first versions is empty.
	instance string
	known    bool // by the memo, or else by the history
	gone     bool // it was deleted meanwhile
}

// leftBatches lists the batches that a crawl has at a data folder and that have not ended, or that an operator has terminated since a time. No worker stands
// for all workers, and no instance for all of a worker's folders.
func (a *Activities) leftBatches(ctx context.Context, crawl string, of Holder, since time.Time) (left []listedBatch, err error) {
	left, err = a.openBatches(ctx, crawl, of)
	if err == nil && !since.IsZero() {
		var ended []listedBatch
		ended, err = a.terminatedBatches(ctx, crawl, of, since)
		left = append(left, ended...)
	}
	return left, err
}

// openBatches lists those that have not ended.
func (a *Activities) openBatches(ctx context.Context, crawl string, of Holder) (open []listedBatch, err error) {
	return a.listBatches(ctx, crawl, of, "ExecutionStatus='Running'")
}

// looksAtOnce is how many workflows are looked at at a time.
const looksAtOnce = 16

// terminatedBatches lists those that an operator has terminated: their worker would have started them again, and is lost.
func (a *Activities) terminatedBatches(ctx context.Context, crawl string, of Holder, since time.Time) ([]listedBatch, error) {
	listed, err := a.listBatches(ctx, crawl, of, fmt.Sprintf("ExecutionStatus='Terminated' AND CloseTime>='%s'", since.UTC().Format(time.RFC3339)))
	if err != nil {
		return nil, err
	}
	err = lookAt(ctx, listed, func(ctx context.Context, w *listedBatch) error {
		byOperator, err := a.terminatedByOperator(ctx, w.id)
		w.gone = !byOperator
		return err
	})
	return slices.DeleteFunc(listed, func(w listedBatch) bool { return w.gone }), err
}

// lookAt does something with some workflows, several at a time.
func lookAt(ctx context.Context, list []listedBatch, do func(context.Context, *listedBatch) error) error {
	looks, ctx := errgroup.WithContext(ctx)
	looks.SetLimit(looksAtOnce)
	for i := range list {
		looks.Go(func() error { return do(ctx, &list[i]) })
	}
	return looks.Wait()
}

// terminatedByOperator reports whether that is how the last execution of a workflow has ended: Retire terminates workflows, too, once others have what they had
// archived.
func (a *Activities) terminatedByOperator(ctx context.Context, id string) (bool, error) {
	events := a.Client.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if !events.HasNext() {
		return false, nil
	}
	last, err := events.Next()
	if gone := new(serviceerror.NotFound); errors.As(err, &gone) {
		return false, nil
	}
	how := last.GetWorkflowExecutionTerminatedEventAttributes()
	return how != nil && how.GetReason() != retireReason, err
}

// listBatches lists batches that a crawl has at a data folder, by their state.
func (a *Activities) listBatches(ctx context.Context, crawl string, of Holder, state string) (list []listedBatch, err error) {
	query := fmt.Sprintf("WorkflowType='%s' AND %s='%s'", names.Batch, names.AttrCrawl.GetName(), crawl)
	if of.Worker != "" {
		query += fmt.Sprintf(" AND %s='%s'", names.AttrWorker.GetName(), of.Worker)
	}
	query += " AND " + state
	for page := []byte(nil); ; {
		some, err := a.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
		if err != nil {
			return nil, err
		}
		for _, w := range some.GetExecutions() {
			b := listedBatch{id: w.GetExecution().GetWorkflowId(), run: w.GetExecution().GetRunId()}
			if memo, has := w.GetMemo().GetFields()[names.MemoInstance]; has {
				b.known = converter.GetDefaultDataConverter().FromPayload(memo, &b.instance) == nil
			}
			list = append(list, b)
		}
		if page = some.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	if of.Instance == "" {
		return list, nil
	}
	err = a.lookForFolders(ctx, list)
	return slices.DeleteFunc(list, func(w listedBatch) bool { return w.gone || w.instance != "" && w.instance != of.Instance }), err
}

// lookForFolders fills in the folders of batches without a memo, which an earlier version has started, by their histories.
func (a *Activities) lookForFolders(ctx context.Context, list []listedBatch) error {
	return lookAt(ctx, list, func(ctx context.Context, w *listedBatch) error {
		if w.known {
			return nil
		}
		by, err := a.holderOf(ctx, w.id, w.run)
		if gone := new(serviceerror.NotFound); errors.As(err, &gone) {
			w.gone, err = true, nil
		}
		w.instance, w.known = by.Instance, err == nil
		return err
	})
}

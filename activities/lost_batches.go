package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/muninn-archive/muninn/activities/names"
)

// LostInput names a worker that the ring has given up, and a spread crawl.
type LostInput struct {
	Crawl  string `json:"crawl"`
	Worker string `json:"worker"`
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

// LostBatches lists the batches of a crawl that a worker has left open. Those that it had archived have perhaps not delivered what they found.
// It comes before they are terminated. A batch that an operator has terminated counts as open: see LostInput.Since.
func (a *Activities) LostBatches(ctx context.Context, in LostInput) (out LostResult, err error) {
	left, err := a.openBatches(ctx, in.Crawl, in.Worker)
	if err == nil && !in.Since.IsZero() {
		var ended []*common.WorkflowExecution
		ended, err = a.terminatedBatches(ctx, in)
		left = append(left, ended...)
	}
	for _, w := range left {
		if batch, is := names.BatchOf(in.Crawl, w.GetWorkflowId()); is {
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

// openBatches lists the workflows of batches that a crawl has at a worker and that have not ended, as Temporal's visibility has them. An empty name
// stands for all workers.
func (a *Activities) openBatches(ctx context.Context, crawl, worker string) (open []*common.WorkflowExecution, err error) {
	return a.listBatches(ctx, crawl, worker, "ExecutionStatus='Running'")
}

// looksAtOnce is how many workflows are looked at at a time.
const looksAtOnce = 16

// terminatedBatches lists those batches that an operator has terminated: their worker would have started them again, and is lost.
func (a *Activities) terminatedBatches(ctx context.Context, in LostInput) (ended []*common.WorkflowExecution, err error) {
	listed, err := a.listBatches(ctx, in.Crawl, in.Worker, fmt.Sprintf("ExecutionStatus='Terminated' AND CloseTime>='%s'", in.Since.UTC().Format(time.RFC3339)))
	if err != nil {
		return nil, err
	}
	byOperator := make([]bool, len(listed))
	looks, ctx := errgroup.WithContext(ctx)
	looks.SetLimit(looksAtOnce)
	for i, w := range listed {
		looks.Go(func() (err error) {
			byOperator[i], err = a.terminatedByOperator(ctx, w.GetWorkflowId())
			return err
		})
	}
	err = looks.Wait()
	for i, w := range listed {
		if byOperator[i] {
			ended = append(ended, w)
		}
	}
	return ended, err
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

// listBatches lists batches that a crawl has at a worker, or at all, by their state.
func (a *Activities) listBatches(ctx context.Context, crawl, worker, state string) (list []*common.WorkflowExecution, err error) {
	query := fmt.Sprintf("WorkflowType='%s' AND %s='%s'", names.Batch, names.AttrCrawl.GetName(), crawl)
	if worker != "" {
		query += fmt.Sprintf(" AND %s='%s'", names.AttrWorker.GetName(), worker)
	}
	query += " AND " + state
	for page := []byte(nil); ; {
		some, err := a.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
		if err != nil {
			return nil, err
		}
		for _, w := range some.GetExecutions() {
			list = append(list, w.GetExecution())
		}
		if page = some.GetNextPageToken(); len(page) == 0 {
			return list, nil
		}
	}
}

package activities

import (
	"context"
	"fmt"
	"slices"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

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
// It comes before they are terminated.
func (a *Activities) LostBatches(ctx context.Context, in LostInput) (out LostResult, err error) {
	open, err := a.openBatches(ctx, in.Crawl, in.Worker)
	for _, w := range open {
		if batch, is := names.BatchOf(in.Crawl, w.GetWorkflowId()); is {
			out.Batches = append(out.Batches, batch)
		}
	}
	slices.Sort(out.Batches)
	if out.Open = len(out.Batches); in.Count {
		out.Batches = nil
	}
	return out, err
}

// openBatches lists the workflows of batches that a crawl has at a worker and that have not ended, as Temporal's visibility has them. An empty name
// stands for all workers.
func (a *Activities) openBatches(ctx context.Context, crawl, worker string) (open []*common.WorkflowExecution, err error) {
	query := fmt.Sprintf("WorkflowType='%s' AND %s='%s'", names.Batch, names.AttrCrawl.GetName(), crawl)
	if worker != "" {
		query += fmt.Sprintf(" AND %s='%s'", names.AttrWorker.GetName(), worker)
	}
	query += " AND ExecutionStatus='Running'"
	for page := []byte(nil); ; {
		list, err := a.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
		if err != nil {
			return nil, err
		}
		for _, w := range list.GetExecutions() {
			open = append(open, w.GetExecution())
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return open, nil
		}
	}
}

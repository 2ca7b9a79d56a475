package activities

import (
	"context"
	"errors"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
)

// MovePoliteness has a running shard continue as new on the queue of the cluster, if it is on another one: earlier versions started it on
// a worker's shared queue. from is that queue; empty if nothing is to be moved. The signal is served by the worker that polls from.
func MovePoliteness(ctx context.Context, c client.Client, shard int) (from string, err error) {
	id := names.PolitenessID(shard)
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return "", err
	}
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	if queue == names.ClusterQueue || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return "", nil
	}
	err = c.SignalWorkflow(ctx, id, d.GetWorkflowExecutionInfo().GetExecution().GetRunId(), names.SignalMove, nil)
	var ended *serviceerror.NotFound // the run has just continued as new, which moves it
	if errors.As(err, &ended) {
		return "", nil
	}
	return queue, err
}

package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

// RegisterInRing registers a process with Cluster, which it starts if it does not run.
func RegisterInRing(ctx context.Context, c client.Client, r ring.Registration) (answer ring.Answer, err error) {
	update := client.UpdateWorkflowOptions{
		WorkflowID: names.ClusterID, UpdateName: names.UpdateRegister, Args: []any{r}, WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	runs, in, reuse, err := clusterBefore(ctx, c)
	if err != nil {
		return answer, err
	}
	var handle client.WorkflowUpdateHandle
	if runs {
		handle, err = c.UpdateWorkflow(ctx, update)
	} else {
		handle, err = c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
				ID: names.ClusterID, TaskQueue: names.ClusterQueue, StaticSummary: "which worker owns which partition",
				WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, WorkflowIDReusePolicy: reuse,
			}, names.Cluster, in),
			UpdateOptions: update,
		})
	}
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	return answer, err
}

// clusterBefore reports whether Cluster runs. If it does not, in and reuse are what it is to be started with: a ring whose former life was
// terminated has lost its state, and permits may be held. It keeps its limits, by which these run out. A start by the wrong policy fails, so that nothing is lost between the look and
// the start; the registration is then tried again.
func clusterBefore(ctx context.Context, c client.Client) (runs bool, in ClusterInput, reuse enums.WorkflowIdReusePolicy, err error) {
	reuse = enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	d, err := c.DescribeWorkflowExecution(ctx, names.ClusterID, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return false, in, reuse, nil
	case err != nil:
		return false, in, reuse, err
	}
	info := d.GetWorkflowExecutionInfo()
	if info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return true, in, reuse, nil
	}
	if err = readInput(ctx, c, names.ClusterID, info.GetExecution().GetRunId(), &in); err != nil {
		return false, in, reuse, err
	}
	if in.State != nil {
		in.Limits, in.State = in.State.Limits(), nil
	}
	if in.Limits.Validate() != nil { // it has ended because of them, or they are not set
		in.Limits = ring.Limits{}
	}
	in.Forgotten = info.GetCloseTime().AsTime()
	return false, in, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, nil
}

// ViewRing asks Cluster for the present view of a worker.
func ViewRing(ctx context.Context, c client.Client, worker string) (*ring.View, error) {
	value, err := c.QueryWorkflow(ctx, names.ClusterID, "", names.QueryView, worker)
	if err != nil {
		return nil, fmt.Errorf("view of the ring: %w", err)
	}
	view := &ring.View{}
	if err := value.Get(view); err != nil {
		return nil, fmt.Errorf("view of the ring: %w", err)
	}
	return view, nil
}

// LeaveRing says that a process wants to leave in peace. A process that is not in the ring has left.
func LeaveRing(ctx context.Context, c client.Client, m RingMember) error {
	return updateRing(ctx, c, names.UpdateLeave, m, nil)
}

// ReportToRing says what a worker has done with partitions. Reports that are stale are dropped: the next view says what is to be done.
func ReportToRing(ctx context.Context, c client.Client, r RingReports) error {
	if len(r.Exported)+len(r.Loaded) == 0 {
		return nil
	}
	var stale []ring.Report
	return updateRing(ctx, c, names.UpdateReport, r, &stale)
}

func updateRing(ctx context.Context, c client.Client, update string, in, out any) error {
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: names.ClusterID, UpdateName: update, Args: []any{in}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, out)
	}
	return err
}

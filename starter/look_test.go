package starter

import (
	"context"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/workflows"
)

// someAway is a service with a controller for each member; of those that are away none answers.
type someAway struct {
	client.Client
	away map[string]bool // by workflow ID
}

func (s someAway) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}, nil
}

func (s someAway) QueryWorkflow(ctx context.Context, id, _, _ string, _ ...any) (converter.EncodedValue, error) {
	if s.away[id] {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p := activities.Progress{At: time.Now()}
	p.Totals.Pages = 7
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(p)
	return client.NewValue(payloads), err
}

// TestControllersOfSomeWorkersAreAway: those that answer are asked in time, whichever member is away.
func TestControllersOfSomeWorkersAreAway(t *testing.T) {
	s := crawlStatus{Crawl: workflows.CrawlState{Name: "c"}}
	for _, worker := range []string{"away-1", "here", "away-2"} {
		m := &workflows.CrawlMember{}
		m.Worker = worker
		s.Crawl.Members = append(s.Crawl.Members, m)
	}
	service := someAway{away: map[string]bool{names.ControllerID("c", "away-1"): true, names.ControllerID("c", "away-2"): true}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	answers := s.askControllers(ctx, service, "run")
	for i, want := range []bool{false, true, false} {
		if a := answers[i]; a.answered != want || !a.running || want && a.progress.Totals.Pages != 7 {
			t.Errorf("member %d: %+v", i, a)
		}
	}
}

package activities

import (
	"context"
	"slices"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// service is a Temporal service in which some workflows run, and which keeps what politeness is sent.
type service struct {
	client.Client
	running []string // IDs
	sent    []politeness.Round
}

func (s *service) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if !slices.Contains(s.running, id) {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		FirstRunId: "run", Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}, nil
}

func (s *service) ListWorkflow(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range s.running {
		if strings.Contains(in.GetQuery(), "WorkflowType='Crawl'") && strings.Count(id, "/") == 1 {
			out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}})
		}
	}
	return out, nil
}

func (s *service) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return nil, errNoShard
}

func (s *service) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.sent = append(s.sent, arg.(politeness.Round))
	return nil, nil
}

// A crawl whose workflow was terminated has no end. It is forgotten once nothing of it runs, and its leases are released before.
func TestForgetTerminated(t *testing.T) {
	r, temporal := newRig(t), &service{}
	r.Client = temporal
	r.begin(names.CrawlID(rigCrawl)+"@run", func(d *crawl.Definition) { d.Politeness.MaxDelay = crawl.Duration(1e9) })
	batch := r.batch()
	forget := func(dry bool) error { return r.do(r.Forget, AskInput{Crawl: rigCrawl, Dry: dry}) }
	for _, c := range []struct {
		running string
		says    string
	}{
		{names.CrawlID(rigCrawl), "running already: c, by the workflow crawl/c"},
		{names.CrawlID(rigCrawl) + "-2026-01-02T03:04:05Z", "running already: c, by the workflow crawl/c-2026"},
		{names.BatchID(rigCrawl, batch.Batch), "batches of it are still running, such as " + names.BatchID(rigCrawl, batch.Batch)},
	} {
		temporal.running = []string{c.running}
		for _, dry := range []bool{true, false} {
			if err := forget(dry); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("while %s runs: %v, want %q", c.running, err, c.says)
			}
		}
	}
	temporal.running = nil
	if err := forget(true); err != nil || len(r.Frontier.Crawl(rigCrawl).Batch(batch.Batch).Claims()) == 0 || len(temporal.sent) > 0 {
		t.Errorf("what would be forgotten: %v; %+v", err, temporal.sent)
	}
	if err := forget(false); err != nil || r.Frontier.Knows(rigCrawl) {
		t.Errorf("%v", err)
	}
	if len(temporal.sent) != 1 {
		t.Fatalf("politeness was sent %+v", temporal.sent)
	}
	round := temporal.sent[0]
	if k := round.Known; k == nil || k.Crawl != rigCrawl || k.Worker != "w" || len(round.Releases) != 1 || round.Releases[0].Lease != batch.Claims[0].ID || round.Releases[0].Rest <= 0 {
		t.Errorf("politeness was sent %+v", round)
	}
}

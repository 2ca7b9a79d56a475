package starter

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/workflows"
)

// The prepared list queries of a crawl.
func batchesOf(crawl string) string {
	return fmt.Sprintf("WorkflowType='%s' AND %s='%s'", names.Batch, names.AttrCrawl.GetName(), crawl)
}

func runningBatches(crawl string) string { return batchesOf(crawl) + " AND ExecutionStatus='Running'" }

func failedBatches(crawl string) string {
	return batchesOf(crawl) + " AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')"
}

// links are addresses in the Temporal UI; nil if its address is not known.
func (g *globals) links(s crawlStatus) map[string]string {
	if g.ui == "" {
		return nil
	}
	base := strings.TrimRight(g.ui, "/") + "/namespaces/" + url.PathEscape(g.temporal.Namespace) + "/workflows"
	list := func(query string) string { return base + "?query=" + url.QueryEscape(query) }
	return map[string]string{
		"crawl": base + "/" + url.PathEscape(s.Workflow), "batches": list(runningBatches(s.Crawl.Name)), "failed": list(failedBatches(s.Crawl.Name)),
	}
}

// askControllers asks the controllers of all members side by side: one whose worker is away costs the others no time.
func (s *crawlStatus) askControllers(ctx context.Context, c client.Client, run string) []controllerAnswer {
	answers := make([]controllerAnswer, len(s.Crawl.Members))
	var asked sync.WaitGroup
	for i, m := range s.Crawl.Members {
		if m.Gone { // in a crawl of an earlier version, another member may have its name, and so the ID of its controller
			continue
		}
		asked.Go(func() { answers[i] = askController(ctx, c, m.ControllerID(s.Crawl.Name), run) })
	}
	asked.Wait()
	return answers
}

// askController asks a controller for the progress that it knows, in the crawl's run: it reports to the crawl itself only from time to
// time. A controller that was terminated with its crawl still answers with its last state.
func askController(ctx context.Context, c client.Client, controller, run string) (answer controllerAnswer) {
	d, err := c.DescribeWorkflowExecution(ctx, controller, "")
	if err != nil {
		return answer
	}
	info := d.GetWorkflowExecutionInfo()
	answer.described, answer.running = d, info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	if !answer.running && info.GetParentExecution().GetRunId() != run {
		return answer // of an earlier run
	}
	value, err := c.QueryWorkflow(ctx, controller, "", names.QueryStatus)
	answer.answered = err == nil && value.Get(&answer.progress) == nil
	return answer
}

// takeController takes over what the controller of a member knows.
func (s *crawlStatus) takeController(m *workflows.CrawlMember, a controllerAnswer) {
	if a.running { // what was pending when it was terminated is not tried again
		s.retries(a.described)
	}
	if a.answered && a.progress.At.After(m.Progress.At) {
		s.Crawl.TakeProgress(a.progress)
	}
}

// batches counts the running batches of a crawl that was cut off, and finds activities that were paused by hand.
func (s *crawlStatus) batches(ctx context.Context, c client.Client) error {
	running := s.running()
	if !running && s.Result == nil {
		n, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: runningBatches(s.Crawl.Name)})
		if err != nil {
			return err
		}
		s.Finish = n.GetCount()
	}
	// servers before 1.28 do not know the attribute: then paused activities are not shown
	held, err := c.ListWorkflow(ctx, listRequest(fmt.Sprintf("%s='%s' AND ExecutionStatus='Running' AND TemporalPauseInfo IS NOT NULL", names.AttrCrawl.GetName(), s.Crawl.Name)))
	if err != nil {
		return nil
	}
	for _, e := range held.GetExecutions() {
		s.Held = append(s.Held, e.GetExecution().GetWorkflowId())
	}
	return nil
}

// reasonsShown bounds the failed batches whose reason is read: each costs a request.
const reasonsShown = 5

// failureReason reads why a batch failed: the first sentence of its failure.
func (s *crawlStatus) failureReason(ctx context.Context, c client.Client, e *workflowpb.WorkflowExecutionInfo) {
	if e.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_FAILED || len(s.Why) == reasonsShown {
		return
	}
	err := c.GetWorkflow(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()).Get(ctx, nil)
	if err == nil {
		return
	}
	if s.Why == nil {
		s.Why = map[string]string{}
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(failureText(err).Error(), "the crawl failed: "), ". If its segment")
	s.Why[e.GetExecution().GetWorkflowId()] = text
}

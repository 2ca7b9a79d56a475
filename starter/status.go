package starter

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/workflows"
)

func listRequest(query string) *workflowservice.ListWorkflowExecutionsRequest {
	return &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 20}
}

// crawlStatus is what `status` prints.
type crawlStatus struct {
	Workflow string                 `json:"workflow"`
	State    string                 `json:"state"` // of the workflow: Running, Completed, …
	Crawl    workflows.CrawlState   `json:"crawl"`
	Failed   []string               `json:"failed_batches,omitempty"`
	Result   *workflows.CrawlResult `json:"result,omitempty"`
}

func statusCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status CRAWL", Short: "Show what a crawl does, learned and failed at", Args: exactArgs(1, "the name of one crawl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := status(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return g.print(s, func(w io.Writer) { s.write(w) })
		},
	}
	g.remote(cmd)
	return cmd
}

func status(ctx context.Context, c client.Client, crawl string) (crawlStatus, error) {
	var s crawlStatus
	var err error
	if s.Workflow, err = workflowOf(ctx, c, crawl); err != nil {
		return s, err
	}
	d, err := c.DescribeWorkflowExecution(ctx, s.Workflow, "")
	if err != nil {
		return s, notFound(crawl, err)
	}
	state := d.GetWorkflowExecutionInfo().GetStatus()
	s.State = state.String()
	value, err := c.QueryWorkflow(ctx, s.Workflow, "", names.QueryStatus)
	if err != nil {
		return s, fmt.Errorf("ask the crawl for its status (does a worker run?): %w", err)
	}
	if err := value.Get(&s.Crawl); err != nil {
		return s, err
	}
	if state == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		s.Result = &workflows.CrawlResult{}
		if err := c.GetWorkflow(ctx, s.Workflow, "").Get(ctx, s.Result); err != nil {
			return s, err
		}
	}
	failed, err := c.ListWorkflow(ctx, listRequest(fmt.Sprintf("WorkflowType = '%s' AND %s = '%s' AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')",
		names.Batch, names.AttrCrawl.GetName(), crawl)))
	if err != nil {
		return s, err
	}
	for _, e := range failed.GetExecutions() {
		id := e.GetExecution().GetWorkflowId()
		latest, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return s, err
		}
		// a batch that was reset since then has another run
		if latest.GetWorkflowExecutionInfo().GetExecution().GetRunId() == e.GetExecution().GetRunId() {
			s.Failed = append(s.Failed, id)
		}
	}
	return s, nil
}

func (s crawlStatus) write(w io.Writer) {
	t, p := s.Crawl.Progress.Totals, s.Crawl.Progress
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	phase := s.Crawl.Phase
	if s.Crawl.Paused {
		phase += ", paused"
	}
	line("%s: %s, %s (run %d, worker %s)", s.Crawl.Name, s.State, phase, s.Crawl.Begun.Run, s.Crawl.Member.Worker)
	line("  pages     %d, %.1f MB, harvest ratio %.2f (%d of %d scored)", t.Pages, float64(t.Bytes)/1e6, t.HarvestRatio(), t.Relevant, t.Scored)
	line("  frontier  %d URLs wait in %d queues, %d known", p.Waiting, p.Queues, t.Known)
	line("  refused   %d by robots.txt, %d by the address guard", t.Robots, t.Refused)
	line("  errors    %d, %d retries, %d batches failed", t.Errors, t.Retries, t.Failed)
	line("  archive   %s", s.Crawl.Begun.Archive)
	if l := s.Crawl.Learned; l != nil {
		words := make([]string, 0, 12)
		for _, term := range l.Terms[:min(len(l.Terms), 12)] {
			words = append(words, term.Text)
		}
		line("  learned   from %d of %d pages: %s", l.Relevant, l.Pages, strings.Join(words, " "))
	}
	if s.Result != nil {
		line("  ended     %s", s.Result.Reason)
		for _, top := range s.Result.Top[:min(len(s.Result.Top), 5)] {
			line("  relevant  %.3f %s", top.Score, top.URL)
		}
	}
	for _, id := range s.Failed {
		line("  failed    %s (temporal workflow reset --type FirstWorkflowTask --workflow-id '%s' --reason retry)", id, id)
	}
}

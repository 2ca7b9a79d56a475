package starter

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
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
	Why      map[string]string      `json:"failed_why,omitempty"`           // reasons of the last ones, by ID
	Finish   int64                  `json:"batches_that_finish,omitempty"`  // running batches of a crawl that was cancelled, terminated or failed
	Held     []string               `json:"paused_activities_of,omitempty"` // workflows with an activity that was paused by hand
	Links    map[string]string      `json:"links,omitempty"`
	Result   *workflows.CrawlResult `json:"result,omitempty"`
	Reason   string                 `json:"reason,omitempty"`  // why it failed
	Retries  []string               `json:"retries,omitempty"` // steps that are tried again
	Silent   *silentWorker          `json:"silent_worker,omitempty"`
	// Unanswered are workers of a crawl that is spread which have not answered: their numbers are those of their last reports.
	Unanswered []silentWorker `json:"silent_workers,omitempty"`
}

// How long workers may take to answer. `muninn status` answers within three seconds, by what is known: a worker that was killed a
// moment ago looks like one that is busy.
const (
	statusWait   = 2500 * time.Millisecond // in all
	queryTimeout = 30 * time.Second        // for other commands, which need the answer
	endedWait    = 3 * time.Second         // for a crawl that has ended, about which Temporal knows most without a worker
)

// retries adds the steps of a workflow that failed and are tried again.
func (s *crawlStatus) retries(d *workflowservice.DescribeWorkflowExecutionResponse) {
	for _, a := range d.GetPendingActivities() {
		if a.GetAttempt() > 1 {
			last := a.GetLastFailure()
			s.Retries = append(s.Retries, workflows.StepFailure(a.GetActivityType().GetName(), a.GetAttempt(), last.GetMessage(), last.GetTimeoutFailureInfo() != nil))
		}
	}
}

// ended reads the result of a crawl that has ended, or why it has none.
func (s *crawlStatus) ended(ctx context.Context, c client.Client) {
	var result workflows.CrawlResult
	if err := c.GetWorkflow(ctx, s.Workflow, "").Get(ctx, &result); err != nil {
		s.Reason = strings.TrimPrefix(failureText(err).Error(), "the crawl failed: ")
		return
	}
	s.Result = &result
}

func statusCommand(g *globals) *cobra.Command {
	wait := statusWait
	cmd := &cobra.Command{
		Use: "status CRAWL", Short: "Show the progress of a crawl, what it learned and what failed", Args: cli.CrawlArgs(1, 0, "the name of one crawl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := status(cmd.Context(), c, args[0], wait)
			var unanswered *unansweredError
			if err != nil && !errors.As(err, &unanswered) {
				return err
			}
			s.Links = g.links(s)
			return g.Print(s, func(w io.Writer) { s.write(w) })
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long workers may take to answer")
	g.remote(cmd)
	return cmd
}

// status is what Temporal knows of a crawl, and what its workers answer within a time.
func status(ctx context.Context, c client.Client, name string, wait time.Duration) (crawlStatus, error) {
	s := crawlStatus{Crawl: workflows.CrawlState{Name: name}}
	var err error
	if s.Workflow, _, err = workflowOf(ctx, c, name); err != nil {
		return s, err
	}
	d, err := c.DescribeWorkflowExecution(ctx, s.Workflow, "")
	if err != nil {
		return s, notFound(name, err)
	}
	state := d.GetWorkflowExecutionInfo().GetStatus()
	s.State = state.String()
	s.retries(d)
	running := state == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	if !running {
		s.ended(ctx, c)
	}
	if s.Result != nil {
		wait = min(wait, endedWait)
	}
	queryCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	value, err := c.QueryWorkflow(queryCtx, s.Workflow, "", names.QueryStatus)
	switch {
	case err == nil:
		if err := value.Get(&s.Crawl); err != nil {
			return s, err
		}
	case running:
		if err := s.takeAttributes(ctx, c, d); err != nil {
			return s, err
		}
		return s, &unansweredError{s.Silent.Queue, err}
	case s.Result != nil: // no worker answers, and the result has it all
		s.Crawl.Phase, s.Crawl.Begun.Run, s.Crawl.Begun.Archive = crawl.PhaseEnded, s.Result.Run, s.Result.Archive
		s.Crawl.TopicModel, s.Crawl.Progress.Totals, s.Crawl.Progress.Harvests = s.Result.TopicModel, s.Result.Totals, s.Result.Harvests
	}
	if s.Result == nil {
		for i, answer := range s.askControllers(queryCtx, c, d.GetWorkflowExecutionInfo().GetExecution().GetRunId()) {
			m := s.Crawl.Members[i]
			s.takeController(m, answer)
			if running && !m.Gone {
				if err := s.noteSilence(ctx, c, m.Member, answer); err != nil {
					return s, err
				}
			}
		}
	}
	if err := s.batches(ctx, c); err != nil {
		return s, err
	}
	failed, err := c.ListWorkflow(ctx, listRequest(failedBatches(name)))
	if err != nil {
		return s, err
	}
	for _, e := range failed.GetExecutions() {
		id := e.GetExecution().GetWorkflowId()
		latest, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return s, err
		}
		// a batch that was reset has a newer run
		if latest.GetWorkflowExecutionInfo().GetExecution().GetRunId() == e.GetExecution().GetRunId() {
			s.Failed = append(s.Failed, id)
			s.failureReason(ctx, c, e)
		}
	}
	return s, nil
}

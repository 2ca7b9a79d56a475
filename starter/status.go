package starter

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
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
	Why      map[string]string      `json:"failed_why,omitempty"`           // of the last of them, by ID
	Finish   int64                  `json:"batches_that_finish,omitempty"`  // of a crawl that was cancelled, terminated or failed
	Held     []string               `json:"paused_activities_of,omitempty"` // workflows with an activity that was paused by hand
	Links    map[string]string      `json:"links,omitempty"`
	Result   *workflows.CrawlResult `json:"result,omitempty"`
	Reason   string                 `json:"reason,omitempty"`  // why it failed
	Retries  []string               `json:"retries,omitempty"` // steps that are tried again
}

// How long a worker may take to answer for a crawl: one that runs, whose worker may be busy; and one that has ended, of which
// the most is known without it.
const (
	queryTimeout      = 30 * time.Second
	endedQueryTimeout = 3 * time.Second
)

// retries notes the steps of a workflow that failed and are tried again.
func (s *crawlStatus) retries(d *workflowservice.DescribeWorkflowExecutionResponse) {
	for _, a := range d.GetPendingActivities() {
		if a.GetAttempt() > 1 {
			last := a.GetLastFailure()
			s.Retries = append(s.Retries, workflows.StepFailure(a.GetActivityType().GetName(), a.GetAttempt(), last.GetMessage(), last.GetTimeoutFailureInfo() != nil))
		}
	}
}

// ended reads the result of a crawl, or why it has none.
func (s *crawlStatus) ended(ctx context.Context, c client.Client) {
	var result workflows.CrawlResult
	if err := c.GetWorkflow(ctx, s.Workflow, "").Get(ctx, &result); err != nil {
		s.Reason = strings.TrimPrefix(explain(err).Error(), "the crawl failed: ")
		return
	}
	s.Result = &result
}

func statusCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status CRAWL", Short: "Show the progress of a crawl, what it learned and what failed", Args: cli.CrawlArgs(1, 0, "the name of one crawl"),
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
			s.Links = g.links(s)
			return g.Print(s, func(w io.Writer) { s.write(w) })
		},
	}
	g.remote(cmd)
	return cmd
}

func status(ctx context.Context, c client.Client, name string) (crawlStatus, error) {
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
	timeout := queryTimeout
	if s.Result != nil {
		timeout = endedQueryTimeout
	}
	queryCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := c.QueryWorkflow(queryCtx, s.Workflow, "", names.QueryStatus)
	switch {
	case err == nil:
		if err := value.Get(&s.Crawl); err != nil {
			return s, err
		}
	case running:
		return s, fmt.Errorf("ask the crawl for its status: %w; is a worker running on task queue %q?", err, d.GetExecutionConfig().GetTaskQueue().GetName())
	case s.Result != nil: // no worker is there to ask, and what it would say is known
		s.Crawl.Phase, s.Crawl.Begun.Run, s.Crawl.Begun.Archive = crawl.PhaseEnded, s.Result.Run, s.Result.Archive
		s.Crawl.Learned, s.Crawl.Progress.Totals, s.Crawl.Progress.Harvests = s.Result.Learned, s.Result.Totals, s.Result.Harvests
	}
	if m := s.Crawl.Member.Worker; s.Result == nil && m != "" {
		s.current(queryCtx, c, names.ControllerID(name, m), d.GetWorkflowExecutionInfo().GetExecution().GetRunId())
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
		// a batch that was reset since then has another run
		if latest.GetWorkflowExecutionInfo().GetExecution().GetRunId() == e.GetExecution().GetRunId() {
			s.Failed = append(s.Failed, id)
			s.because(ctx, c, e)
		}
	}
	return s, nil
}

func (s crawlStatus) write(w io.Writer) {
	p := s.Crawl.Progress
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	phase := s.Crawl.Phase
	switch {
	case s.Result != nil:
	case s.Crawl.Cancelled && s.State == enums.WORKFLOW_EXECUTION_STATUS_RUNNING.String():
		phase += ", cancelled: it ends when its batches have"
	case s.Crawl.Paused:
		phase += ", paused"
	case s.Crawl.Stopping:
		phase += ", stopping: batches that are out finish"
	case s.State != enums.WORKFLOW_EXECUTION_STATUS_RUNNING.String():
		phase = "cut off in the phase " + phase
	case p.Holds != "":
		phase += ", holding"
	}
	if s.Crawl.Begun.Run == 0 {
		line("%s: %s", s.Crawl.Name, s.State)
	} else {
		line("%s: %s, %s (run %d, worker %s)", s.Crawl.Name, s.State, phase, s.Crawl.Begun.Run, s.Crawl.Member.Worker)
	}
	if s.Reason != "" {
		line("  reason    %s", s.Reason)
	}
	for _, r := range s.Retries {
		line("  retrying  %s", r)
	}
	if s.Crawl.Begun.Run == 0 {
		return
	}
	if s.Result == nil && s.State != enums.WORKFLOW_EXECUTION_STATUS_RUNNING.String() {
		finish := "none of its batches is out"
		if s.Finish > 0 {
			finish = plural(s.Finish, "batch") + " of it still finish"
		}
		numbers := "the numbers are the last ones that its worker reported, " + p.At.Local().Format(time.DateTime)
		if p.At.IsZero() {
			numbers = "its worker has reported no numbers yet"
		}
		line("  cut off   %s; %s", finish, numbers)
		line("            `muninn start` with the definition continues run %d, which has no end and no report yet;", s.Crawl.Begun.Run)
		line("            `muninn forget %s` deletes it from the frontier", s.Crawl.Name)
	}
	for _, id := range s.Held {
		line("  paused    an activity of %s, by hand (temporal activity unpause --workflow-id '%s' --activity-type …)", id, id)
	}
	if p.Holds != "" && s.Result == nil {
		line("  holds     %s", p.Holds)
	}
	if p.Leases != nil && s.Result == nil {
		line("  leases    %s", p.Leases)
	}
	if s.Result != nil || !p.At.IsZero() || s.State == enums.WORKFLOW_EXECUTION_STATUS_RUNNING.String() {
		s.writeNumbers(line)
	}
	line("  archive   %s", s.Crawl.Begun.Archive)
	if former := s.Crawl.Begun.Former; former != "" {
		line("            it was %s before: pages are archived completely again", former)
	}
	if l := s.Crawl.Learned; l != nil {
		line("  learned   from %d of %d pages: %s", l.Relevant, l.Pages, strings.Join(l.Said(learnedShown), " "))
	}
	if s.Result != nil {
		line("  ended     %s", s.Result.Reason)
		if s.Result.Report != "" {
			line("  report    %s", s.Result.Report)
		}
		for _, top := range s.Result.Top[:min(len(s.Result.Top), 5)] {
			line("  relevant  %.3f %s", top.Score, top.URL)
		}
	}
	ends := p.Ends
	if s.Result != nil {
		ends = s.Result.Ends
	}
	writeEnds(line, ends)
	for _, id := range s.Failed {
		line("  failed    %s (temporal workflow reset --type FirstWorkflowTask --workflow-id '%s' --reason retry)", id, id)
		if why := s.Why[id]; why != "" {
			line("            %s", why)
		}
	}
	line("  look      temporal workflow list --query \"%s\"", runningBatches(s.Crawl.Name))
	if p.Totals.Failed > 0 || len(s.Failed) > 0 {
		line("            temporal workflow list --query \"%s\"", failedBatches(s.Crawl.Name))
	}
	for _, what := range []string{"crawl", "batches", "failed"} {
		if link := s.Links[what]; link != "" {
			line("            %s: %s", what, link)
		}
	}
}

// writeNumbers tells how far a crawl has come.
func (s crawlStatus) writeNumbers(line func(format string, args ...any)) {
	t, p := s.Crawl.Progress.Totals, s.Crawl.Progress
	if p.UnderWay > 0 {
		line("  fetched   %d URLs more, of batches that are out", p.UnderWay)
	}
	line("  requests  %d answered: pages, redirects, errors, and repeated attempts", t.Requests)
	line("  pages     %d, %.1f MB, harvest ratio %.2f (%d of %d scored)", t.Pages, float64(t.Bytes)/1e6, t.HarvestRatio(), t.Relevant, t.Scored)
	if harvests := p.Harvests; len(harvests) > 0 {
		line("  harvest   %s by tenths of the run, %.2f to %.2f", bars(harvests), harvests[0], harvests[len(harvests)-1])
	}
	line("  frontier  %d URLs wait in %d queues, %d known", p.Waiting, p.Queues, t.Known)
	if most := workflows.Most(p); most != "" && s.Result == nil {
		line("            %s", most)
	}
	line("  refused   %d by robots.txt, %d by the address guard", t.Robots, t.Refused)
	line("  errors    %d, %d retries, %d batches failed", t.Errors, t.Retries, t.Failed)
}

// bars draws shares, each as one character.
func bars(shares []float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, len(shares))
	for i, x := range shares {
		out[i] = levels[min(int(x*float64(len(levels))), len(levels)-1)]
	}
	return string(out)
}

// endsShown is how many groups of URLs that ended without a page are shown.
const endsShown = 10

// endGroup are URLs that ended without a page for one reason.
type endGroup struct {
	kind, reason, last string
	n                  int
}

// grouped puts the URLs that ended without a page together by kind and reason; those of the last end come last.
func grouped(ends []frontier.End) (groups []endGroup) {
	for _, e := range ends {
		g := endGroup{kind: e.Kind, reason: e.Reason}
		if at := slices.IndexFunc(groups, func(g endGroup) bool { return g.kind == e.Kind && g.reason == e.Reason }); at >= 0 {
			g = groups[at]
			groups = slices.Delete(groups, at, at+1)
		}
		g.n++
		g.last = e.URL
		groups = append(groups, g)
	}
	return groups
}

// writeEnds lists URLs that ended without a page, and why.
func writeEnds(line func(format string, args ...any), ends []frontier.End) {
	groups := grouped(ends)
	for _, g := range groups[max(len(groups)-endsShown, 0):] {
		kind := map[string]string{crawl.OutcomeFailed: "failed", crawl.OutcomeRobots: "robots", crawl.OutcomeRefused: "refused"}[g.kind]
		if g.n == 1 {
			line("  %-9s %s: %s", kind, g.last, g.reason)
		} else {
			line("  %-9s %s: %s (and %d more of the last ones)", kind, g.last, g.reason, g.n-1)
		}
	}
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ses", n, noun)
}

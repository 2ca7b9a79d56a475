package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/workflows"
)

// ask has the worker of a crawl run a workflow that answers a question.
func (g *globals) ask(ctx context.Context, workflow, id string, in activities.AskInput, out any) error {
	c, err := g.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var s crawlStatus
	if in.Queue == "" {
		if s, err = status(ctx, c, in.Crawl, queryTimeout); err != nil {
			return err
		}
	}
	if in.Queue == "" && len(s.Crawl.Members) == 0 {
		return fmt.Errorf("no worker has taken %s yet, or its worker is not known because no worker runs that could answer", in.Crawl)
	}
	if in.Queue == "" && (len(s.Crawl.Ring) == 0 || workflow != names.Explain) { // of a crawl that is spread, the workflow finds who has the URL
		in.Queue = anyMember(s.Crawl).Queue
	}
	if in.Queue != "" {
		if err := served(ctx, c, in.Queue); err != nil {
			return err
		}
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: fmt.Sprintf("%s/%d", id, time.Now().UnixNano()), TaskQueue: g.temporal.Queue, WorkflowExecutionTimeout: 24 * time.Hour,
	}, workflow, in)
	if err != nil {
		return err
	}
	err = run.Get(ctx, out)
	var said *temporal.ApplicationError
	if errors.As(err, &said) {
		return errors.New(said.Message())
	}
	if err != nil && in.Queue == "" {
		return fmt.Errorf("%w; does the worker run that has the URL? `muninn workers` shows who is there", failureText(err))
	}
	if err != nil {
		return fmt.Errorf("%w; is the worker of queue %q running?", failureText(err), in.Queue)
	}
	return nil
}

// anyMember is a member that can answer what all can: the first that is there.
func anyMember(s workflows.CrawlState) *workflows.CrawlMember {
	for _, m := range s.Present() {
		if !m.Lost && m.Fault == "" {
			return m
		}
	}
	return s.Members[0]
}

// served fails unless a worker polls a queue: without one, a question would never be answered. Temporal remembers pollers for five
// minutes.
func served(ctx context.Context, c client.Client, queue string) error {
	d, err := c.DescribeTaskQueue(ctx, queue, enums.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return err
	}
	if len(d.GetPollers()) == 0 {
		return fmt.Errorf("no worker serves the queue %s: start the worker %q, which has the crawl", queue, path.Base(queue))
	}
	return nil
}

func explainCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain CRAWL URL", Short: "Show the state and the score of a URL, and what decides its position in its queue", Args: cli.CrawlArgs(2, 0, "the name of a crawl and a URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := urls.Parse(args[1])
			if err != nil {
				return cli.Usage("%q is not a URL: %w", crawl.HideUser(args[1]), err)
			}
			var e frontier.Explanation
			in := activities.AskInput{Crawl: args[0], URL: u.String()} // String leaves out user information
			if err := g.ask(cmd.Context(), names.Explain, names.ExplainID(args[0]), in, &e); err != nil {
				return err
			}
			return g.Print(e, func(w io.Writer) { writeExplanation(w, e, args[0]) })
		},
	}
	g.remote(cmd)
	return cmd
}

func writeExplanation(w io.Writer, e frontier.Explanation, crawlName string) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s", e.URL)
	if e.State == frontier.URLUnknown {
		line("  is not known: no page links to it, it is out of scope, or more redirects in a row than scope.max_redirects lead to it")
		return
	}
	if e.SameAs != "" {
		line("  same page  %s is asked for in its place; what follows is of that", e.SameAs)
	}
	line("  state      %s, %d attempts failed; path %s", e.State, e.Attempts, e.Path)
	if e.Trap != nil {
		line("  trap       %s", e.Trap.Text(crawlName))
	}
	if e.Redirects > 0 {
		line("  redirects  %d in a row led here, at most %d are followed", e.Redirects, e.MaxRedirects)
	}
	if e.Via != "" {
		line("  found on   %s", e.Via)
	}
	if !e.Again.IsZero() {
		line("  interval   %s: runs that begin from %s on ask for it again", e.Interval, e.Again.Local().Format(time.DateTime))
	}
	if !e.Due.IsZero() {
		line("  tried next %s", e.Due.Local().Format(time.DateTime))
	}
	line("  links      %d were scored: first %.3f, last %.3f, mean %.3f, best %.3f; order.update is %s", e.Links, e.First, e.Last, e.Mean, e.Max, e.Update)
	for _, p := range e.Parts {
		line("    %-10s %.3f", p.Name, p.Score)
	}
	if e.State == frontier.URLWaiting || e.State == frontier.URLClaimed {
		line("  priority   %.3f when it was queued, %.3f with what is known now (order.strategy is %s)", e.Priority, e.Now, e.Strategy)
	}
	if len(e.Weights) > 0 {
		line("    relevance  promise   (logits: of the page itself, and of the pages that it links to)")
	}
	for _, p := range e.Weights {
		line("    %+9.2f  %+7.2f   %s", p.Value, p.Promise, p.Name)
	}
	for i, p := range e.Estimators {
		if i == 0 {
			line("  relevance  of fetched pages is estimated by")
		}
		line("    %8.0f %%  %s", 100*p.Share, p.Name)
	}
	queue := fmt.Sprintf("%s: %d URLs before it of %d", e.PLD, e.Before, e.Waiting)
	switch {
	case e.Ordered != "":
		queue += "; an operator has " + string(e.Ordered) + " this PLD"
	case e.Spent:
		queue += "; the budget of this PLD is spent"
	case e.Waits != nil:
		queue += "; " + e.Waits.String()
	case e.Asking != nil:
		queue += "; a claim waits for a lease: " + e.Asking.IP
	case e.Busy:
		queue += "; a batch of it is running"
	case e.Held:
		queue += "; it waits, because better ones are expected to use the budget of pages up"
	case time.Until(e.Next) > 0:
		queue += fmt.Sprintf("; it rests until %s", e.Next.Local().Format(time.DateTime))
	}
	if e.Fails > 0 {
		queue += fmt.Sprintf("; %d batches in a row could not reach it", e.Fails)
	}
	line("  queue      %s", queue)
	if e.Worth != nil {
		line("  worth      %.2f of a page of the best hosts, by %d pages of this one and the priority of its first URL; the price is %.2f", *e.Worth, e.Judged, *e.Price)
	}
}

func reportCommand(g *globals) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use: "report CRAWL", Short: "Make a report of a crawl, as a page with plots, and put it into its archive", Args: cli.CrawlArgs(1, 0, "the name of one crawl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var made activities.ReportResult
			err := g.ask(cmd.Context(), names.Report, names.ReportID(args[0]), activities.AskInput{Crawl: args[0]}, &made)
			if err != nil {
				return err
			}
			if file != "" {
				if len(made.HTML) == 0 {
					return fmt.Errorf("the report is too large to be sent; it is in the archive as %s", made.Key)
				}
				err = os.WriteFile(file, made.HTML, 0o644)
			}
			made.HTML = nil
			return errors.Join(err, g.Print(made, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "the report is in the archive as %s\n", made.Key)
				if file != "" && err == nil {
					_, _ = fmt.Fprintf(w, "and here as %s\n", file)
				}
			}))
		},
	}
	cmd.Flags().StringVar(&file, "out", "", "file that the report is written to as well")
	g.remote(cmd)
	return cmd
}

// changes reads the fields to change: from a file, or as FIELD=VALUE.
func changes(args []string) ([]byte, error) {
	if len(args) == 1 && !strings.Contains(args[0], "=") {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return nil, cli.Usage("the fields to change: %v", err)
		}
		return text, nil
	}
	tree, err := crawl.Fields(args)
	if err != nil {
		return nil, cli.Usage("%v", err)
	}
	return tree, nil
}

// configureTimeout bounds the wait for a crawl's answer to a change.
const configureTimeout = 30 * time.Second

func (g *globals) configure(ctx context.Context, name string, fields []byte) (d workflows.Configured, err error) {
	c, err := g.dial(ctx)
	if err != nil {
		return d, err
	}
	defer c.Close()
	id, err := runningWorkflow(ctx, c, name, "change its definition and start it again")
	if err != nil {
		return d, err
	}
	raw, err := crawl.JSON(fields)
	if err != nil {
		return d, err
	}
	return update[workflows.Configured](ctx, c, id, names.UpdateConfig, configureTimeout, raw)
}

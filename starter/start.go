package starter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/worker"
)

// startOptions are the options of a Crawl workflow.
func startOptions(d crawl.Definition, queue string) client.StartWorkflowOptions {
	summary := d.Description
	if summary == "" {
		summary = summaryOf(d)
	}
	return client.StartWorkflowOptions{
		ID: names.CrawlID(d.Name), TaskQueue: queue, StaticSummary: summary,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    temporal.NewSearchAttributes(names.AttrCrawl.ValueSet(d.Name)),
	}
}

// summaryOf describes a crawl in a line, for the Temporal UI.
func summaryOf(d crawl.Definition) string {
	var seeds, words []string
	for _, s := range d.Seeds[:min(len(d.Seeds), 2)] {
		seeds = append(seeds, cmp.Or(s.URL, s.Sitemap, s.File))
	}
	text := "from " + strings.Join(seeds, ", ")
	if n := len(d.Seeds) - len(seeds); n > 0 {
		text += fmt.Sprintf(" and %d more seeds", n)
	}
	words = append(words, d.Topic.Keywords[:min(len(d.Topic.Keywords), 5)]...)
	if len(words) > 0 {
		text += "; topic: " + strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s; %d pages at most", text, d.Budget.Pages)
}

// warn prints what is valid in a definition, but most likely not meant.
func warn(d crawl.Definition) {
	for _, w := range d.Warnings() {
		fmt.Fprintf(os.Stderr, "muninn: warning: %s %s\n", w.Path, w.Message)
	}
}

// inputOf is a definition as input of a Crawl workflow. It fails if the definition is larger than maxInline.
func inputOf(d crawl.Definition) (json.RawMessage, error) {
	raw, err := json.Marshal(d)
	if err == nil && len(raw) > maxInline {
		err = cli.Usage("the definition has %s, at most %s can be sent: put the seeds into a file that the worker can read", crawl.Bytes(len(raw)), crawl.Bytes(maxInline))
	}
	return raw, err
}

// withDefinition reads a definition file and calls do with a client, the definition, and the definition as input of a workflow.
func (g *globals) withDefinition(cmd *cobra.Command, file string, do func(c client.Client, d crawl.Definition, input json.RawMessage) error) error {
	d, err := cli.ReadDefinition(file)
	if err != nil {
		return err
	}
	input, err := inputOf(d)
	if err != nil {
		return err
	}
	warn(d)
	c, err := g.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c, d, input)
}

// start starts a crawl. running reports that it runs already.
func start(ctx context.Context, c client.Client, d crawl.Definition, input json.RawMessage, queue, namespace string) (running bool, err error) {
	if id, state, err := workflowOf(ctx, c, d.Name); err == nil && state == enums.WORKFLOW_EXECUTION_STATUS_RUNNING && id != names.CrawlID(d.Name) {
		return false, fmt.Errorf("crawl %q is running already, by its schedule: workflow %s", d.Name, id)
	}
	err = worker.WithAttributes(ctx, c, namespace, func() error {
		_, err := c.ExecuteWorkflow(ctx, startOptions(d, queue), names.Crawl, input)
		return err
	})
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &started) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("start the crawl: %w", err)
	}
	return false, nil
}

func startCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "start DEFINITION.yaml", Short: "Start a crawl on a running service",
		Long: `Start a crawl on a running service and its workers.

The same with the Temporal CLI:
  muninn check --json DEFINITION.yaml > definition.json
  temporal workflow start --type Crawl --task-queue muninn --workflow-id crawl/NAME --input-file definition.json`,
		Args: cli.ExactArgs(1, "one definition file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withDefinition(cmd, args[0], func(c client.Client, d crawl.Definition, input json.RawMessage) error {
				running, err := start(cmd.Context(), c, d, input, g.temporal.Queue, g.temporal.Namespace)
				if err != nil {
					return err
				}
				if running {
					return fmt.Errorf("the crawl %s is running already: see `muninn status %s`", d.Name, d.Name)
				}
				out := map[string]string{"crawl": d.Name, "workflow": names.CrawlID(d.Name)}
				if link := g.link(names.CrawlID(d.Name)); link != "" {
					out["ui"] = link
				}
				return g.Print(out, func(w io.Writer) {
					_, _ = fmt.Fprintf(w, "started %s\n", names.CrawlID(d.Name))
					if link := out["ui"]; link != "" {
						_, _ = fmt.Fprintln(w, link)
					}
				})
			})
		},
	}
	g.remote(cmd)
	return cmd
}

// devUI is where `muninn dev` serves the Temporal UI, and devTemporal its frontend, unless a flag says otherwise.
const (
	devTemporal = "127.0.0.1:7233"
	devUI       = "http://127.0.0.1:8233"
)

// link is the address of a workflow in the Temporal UI; empty if the address of the UI is not known.
func (g *globals) link(id string) string {
	ui := strings.TrimRight(os.Getenv("MUNINN_UI"), "/")
	if ui == "" && g.temporal.Address == devTemporal {
		ui = devUI
	}
	if ui == "" {
		return ""
	}
	return ui + "/namespaces/" + url.PathEscape(g.temporal.Namespace) + "/workflows/" + url.PathEscape(id)
}

// workflowOf finds the ID and the state of the workflow of a crawl: crawl/NAME, or the last one that its schedule started.
func workflowOf(ctx context.Context, c client.Client, crawl string) (string, enums.WorkflowExecutionStatus, error) {
	id := names.CrawlID(crawl)
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	state := d.GetWorkflowExecutionInfo().GetStatus()
	if err == nil && state == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return id, state, nil
	}
	list, errList := c.ListWorkflow(ctx, listRequest(fmt.Sprintf("WorkflowType = '%s' AND %s = '%s'", names.Crawl, names.AttrCrawl.GetName(), crawl)))
	if errList == nil && len(list.GetExecutions()) > 0 {
		last := list.GetExecutions()[0]
		return last.GetExecution().GetWorkflowId(), last.GetStatus(), nil
	}
	return id, state, notFound(crawl, err)
}

// runningWorkflow finds the ID of the workflow of a crawl that runs. otherwise says what to do if the crawl has ended.
func runningWorkflow(ctx context.Context, c client.Client, crawl, otherwise string) (string, error) {
	id, state, err := workflowOf(ctx, c, crawl)
	if err == nil && state != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		err = fmt.Errorf("crawl %s has ended: %s", crawl, otherwise)
	}
	return id, err
}

// differences lists the parts in which a definition differs from that of the running crawl; empty if there are none.
func differences(ctx context.Context, c client.Client, d crawl.Definition) (string, error) {
	former, err := definitionOf(ctx, c, names.CrawlID(d.Name))
	if err != nil {
		return "", err
	}
	var parts []string
	was, is := reflect.ValueOf(former), reflect.ValueOf(d)
	for i := range is.NumField() {
		before, errBefore := json.Marshal(was.Field(i).Interface())
		now, errNow := json.Marshal(is.Field(i).Interface())
		if errBefore != nil || errNow != nil || !bytes.Equal(before, now) {
			name, _, _ := strings.Cut(is.Type().Field(i).Tag.Get("json"), ",")
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ", "), nil
}

// definitionOf reads the definition from the input of a crawl's workflow.
func definitionOf(ctx context.Context, c client.Client, workflow string) (d crawl.Definition, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the definition of %s: %w", workflow, err)
		}
	}()
	events := c.GetWorkflowHistory(ctx, workflow, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return d, err
	}
	var raw json.RawMessage
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayload(input.GetPayloads()[0], &raw); err != nil {
		return d, err
	}
	return crawl.ParseStoredDefinition(raw)
}

func notFound(crawl string, err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return &noCrawlError{crawl}
	}
	return err
}

// noCrawlError says that Temporal knows no crawl of a name.
type noCrawlError struct{ crawl string }

func (e *noCrawlError) Error() string {
	return fmt.Sprintf("there is no crawl %q; `temporal workflow list --query \"WorkflowType='Crawl'\"` lists them", e.crawl)
}

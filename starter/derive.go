package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

func deriveCommand(g *globals) *cobra.Command {
	var stepNames []string
	follow, wait := false, false
	var s3 *archive.S3
	cmd := &cobra.Command{
		Use: "derive ARCHIVE [CRAWL] | derive CRAWL", Short: "Derive texts, objects and links of what was archived, for search and selection",
		Long: `Have steps derive what they have not yet of each segment: texts, web objects and links of pages. What is derived lies beside the segments; the
segments stay as they are. It can be stopped at any time, and continues where it was. docs/architecture/derive.md describes it.

Give a folder (with a / in its name, as in ./NAME) or s3://bucket/prefix, and this machine derives all crawls in it, or CRAWL. Give the name of a crawl that
Temporal knows, and its workers do, in a workflow; --follow has them derive what the crawl archives until it ends.

  muninn derive ./archive
  muninn derive s3://archive/crawls ravens --json
  muninn derive ravens --follow`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return cli.Usage("give an archive (a folder with a / in its name, or s3://bucket/prefix) and possibly the name of a crawl; or the name of a crawl that Temporal knows")
			}
			if len(args) == 2 {
				return cli.CheckCrawl(args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := derive.Named(stepNames...)
			if err != nil {
				return cli.Usage("--step: %w", err)
			}
			if !strings.ContainsAny(args[0], `/\`) && len(args) == 1 {
				return g.deriveAtWorkers(cmd.Context(), args[0], list, follow, wait)
			}
			if follow || wait {
				return cli.Usage("--follow and --wait are for the workers of a crawl that Temporal knows")
			}
			crawl := ""
			if len(args) == 2 {
				crawl = args[1]
			}
			return g.deriveHere(cmd.Context(), args[0], crawl, list, *s3, cmd.ErrOrStderr())
		},
	}
	s3 = s3Flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&stepNames, "step", nil, "names of steps; without it, all")
	f.BoolVar(&follow, "follow", false, "of a crawl that Temporal knows: derive what it archives until it ends")
	f.BoolVar(&wait, "wait", false, "of a crawl that Temporal knows: wait for the end")
	g.remote(cmd)
	return cmd
}

// deriveAtWorkers has the workers of a crawl derive it.
func (g *globals) deriveAtWorkers(ctx context.Context, crawl string, list []derive.Step, follow, wait bool) error {
	if err := cli.CheckCrawl(crawl); err != nil {
		return err
	}
	c, err := g.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := status(ctx, c, crawl, queryTimeout)
	if err != nil {
		return orFolder(crawl, err)
	}
	d, err := definitionOf(ctx, c, s.Workflow)
	if err != nil {
		return err
	}
	in := workflows.Derivation{DerivableInput: activities.DerivableInput{Archive: d.Archive.Where, Prefix: d.Archive.Prefix, Crawls: []string{crawl}}, Follow: follow}
	for _, step := range list {
		in.Steps = append(in.Steps, step.Name)
	}
	if err := served(ctx, c, names.DeriveQueue(g.temporal.Queue)); err != nil {
		return err
	}
	id := names.DeriveID(crawl)
	var run client.WorkflowRun
	err = worker.WithAttributes(ctx, c, g.temporal.Namespace, func() (err error) {
		run, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: id, TaskQueue: g.temporal.Queue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowExecutionErrorWhenAlreadyStarted: true,
			StaticSummary: "derive " + strings.Join(in.Steps, ", ") + " of " + crawl,
		}, names.Derive, in)
		return err
	})
	var runs *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &runs) {
		return fmt.Errorf("%s is derived already, by the workflow %s: its details in Temporal's UI say how far it is", crawl, id)
	}
	if err != nil {
		return err
	}
	var p workflows.DeriveProgress
	p.State, p.Crawl = "started", crawl
	if wait {
		if err := run.Get(ctx, &p); err != nil {
			return failureText(err)
		}
	}
	return g.Print(p, func(w io.Writer) { writeDerived(w, id, p, g.link(id)) })
}

func writeDerived(w io.Writer, id string, p workflows.DeriveProgress, link string) {
	_, _ = fmt.Fprintf(w, "%s: %s", id, p.State)
	if p.State != "started" {
		_, _ = fmt.Fprintf(w, ", %d segments, %d lines of %d captures, %s", p.Segments, p.Lines, p.Captures, size(p.Bytes))
	}
	if p.Viewed > 0 {
		_, _ = fmt.Fprintf(w, ", %d segments in the views", p.Viewed)
	}
	_, _ = fmt.Fprintln(w)
	for _, b := range p.Behind {
		_, _ = fmt.Fprintf(w, "  the views are behind, %s\n", b)
	}
	for _, d := range p.Damaged {
		_, _ = fmt.Fprintf(w, "  damaged: %s\n", d)
	}
	if p.DamagedMore > 0 {
		_, _ = fmt.Fprintf(w, "  damaged: %d more\n", p.DamagedMore)
	}
	if link != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", link)
	}
}

package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/workflows"
)

// maxOrder bounds an order that is sent to workers, in bytes: it stands in the history of a workflow.
const maxOrder = 1 << 20

// exportPoll lies between two looks at an export that workers make.
const exportPoll = 2 * time.Second

// checkOnWorkers refuses what workers do not do.
func (e *exporting) checkOnWorkers() error {
	switch {
	case e.format == formatCSV || e.format == formatParquet:
		return cli.Usage("--on-workers: workers write records: it needs --format warc or wacz")
	case e.check:
		return cli.Usage("--on-workers: --check is for exports of this process: run the same command with --check and without --on-workers afterwards, which writes nothing again")
	case e.query == "" && e.selection == "" && (e.changed("s3-endpoint") || e.changed("s3-region")):
		return cli.Usage("--on-workers: workers reach S3 by their own settings: leave --s3-endpoint and --s3-region out")
	}
	return nil
}

// runOnWorkers has the workers of a Temporal service make an export, and waits for its end. If the same one runs, it waits for that. planned is not nil if
// it was planned here: the workflow then begins where one is that has planned.
func (e *exporting) runOnWorkers(ctx context.Context, where string, o export.Order, planned *workflows.ExportState) error {
	if len(o.Crawls) == 0 {
		return cli.Usage("--on-workers: name the crawls that are merged")
	}
	in := workflows.Exporting{Exported: activities.Exported{Archive: absolutePlace(where), To: absolutePlace(e.to), Order: o}, State: planned}
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if len(raw) > maxOrder {
		return cli.Usage("--only: an order of %d bytes is too large for workers, which take %d: use prefixes, or leave --on-workers out", len(raw), maxOrder)
	}
	c, err := e.g.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := served(ctx, c, names.DeriveQueue(e.g.temporal.Queue)); err != nil {
		return err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(raw)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: names.ExportID(o.Name, fmt.Sprintf("%016x", hash.Sum64())), TaskQueue: e.g.temporal.Queue, StaticSummary: fmt.Sprintf("export of %s as %s", o.Name, o.Format),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, names.Export, in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if e.g.verbose {
		go e.follow(ctx, c, run.GetID())
	}
	var result export.Result
	err = run.Get(ctx, &result)
	var said *temporal.ApplicationError
	if errors.As(err, &said) {
		return errors.New(said.Message())
	}
	if err != nil {
		return failureText(err)
	}
	return e.report(exported{To: e.to, Result: result}, o)
}

// follow writes the progress of an export to standard error, until the context ends.
func (e *exporting) follow(ctx context.Context, c client.Client, id string) {
	tick := time.NewTicker(exportPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var p workflows.ExportProgress
		value, err := c.QueryWorkflow(ctx, id, "", names.QueryStatus)
		if err == nil && value.Get(&p) == nil {
			fmt.Fprintf(os.Stderr, "%s: %d of %d parts, %s\n", p.State, p.Written, p.Parts, size(p.Bytes))
		}
	}
}

// absolutePlace makes the path of a folder absolute: the worker runs elsewhere.
func absolutePlace(where string) string {
	if strings.Contains(where, "://") {
		return where
	}
	if abs, err := filepath.Abs(where); err == nil {
		return abs
	}
	return where
}

package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/workflows"
)

// ringTimeout is how long the ring may take to answer: a worker may have just been killed that was asked first.
const ringTimeout = 15 * time.Second

func workersCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "workers", Short: "Show the ring of workers: who is there, since when, and who owns which part of the frontier", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := ringStatus(cmd.Context(), c)
			if err != nil {
				return err
			}
			return g.Print(s, func(w io.Writer) { writeRing(w, s, time.Now()) })
		},
	}
	g.remote(cmd)
	return cmd
}

// ringStatus asks the ring for its state.
func ringStatus(ctx context.Context, c client.Client) (s workflows.ClusterStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	value, err := c.QueryWorkflow(ctx, names.ClusterID, "", names.QueryStatus)
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return s, errors.New("there is no ring of workers yet: no worker has started here; start one (muninn-worker, or muninn dev)")
	case err != nil:
		return s, fmt.Errorf("the ring of workers does not answer within %s: no worker is running, or none can reach Temporal; `temporal task-queue describe --task-queue %s` shows who polls: %w",
			ringTimeout, names.ClusterQueue, err)
	}
	return s, value.Get(&s)
}

func writeRing(out io.Writer, s workflows.ClusterStatus, now time.Time) {
	_, _ = fmt.Fprintf(out, "%s, epoch %d\n", cli.Count(len(s.Workers), "worker"), s.Epoch)
	if len(s.Workers) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "WORKER\tSTATE\tSINCE\tPARTITIONS\tTASK QUEUE\tPROCESS")
	for _, m := range s.Workers {
		since := fmt.Sprintf("%s (%s)", m.At.UTC().Format(time.DateTime), max(now.Sub(m.At), 0).Round(time.Second))
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.State(), since, s.PartitionsOf(m.Name), m.Queue, m.Process)
	}
	_ = w.Flush()
	if n := s.Unowned(); n > 0 {
		_, _ = fmt.Fprintf(out, "%s of no worker: they wait for a worker, or until the permits of a former ring have run out\n", cli.Count(n, "partition"))
	}
}

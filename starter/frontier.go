package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
)

// frontierCommand groups the commands about the frontier of a worker that is stopped.
func frontierCommand(g *globals) *cobra.Command {
	cmd := cli.Group(&cobra.Command{Use: "frontier", Short: "Rebuild the frontier of a worker that has lost its disk"})
	cmd.AddCommand(rebuildCommand(g))
	return cmd
}

func rebuildCommand(g *globals) *cobra.Command {
	var s3 *archive.S3
	var r checkpoint.Rebuild
	cmd := &cobra.Command{
		Use: "rebuild ARCHIVE", Short: "Make the frontier of a lost data folder again, from its last checkpoint and the segments since", Args: cli.ExactArgs(1, "the archive of the worker: a folder, or s3://bucket/prefix"),
		Long: `Make the frontier of a worker again whose data folder is lost: from the newest checkpoint of the worker in ARCHIVE, which is the
worker's own archive (its setting archive), and from the segments that were archived after it. The worker must not be
running, and its data folder must have no frontier. Killed, the command continues where it was when it is called again.

  muninn frontier rebuild s3://archive/crawls --name worker-1 --data /var/lib/muninn`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.Worker == "" {
				return cli.Usage("--name is missing: the name of the worker whose frontier is lost")
			}
			if r.Store, err = openArchive(cmd.Context(), args[0], *s3); err != nil {
				return err
			}
			r.Open = func(ctx context.Context, where string) (archive.Store, error) {
				return archive.OpenReader(ctx, where, *s3)
			}
			r.Engine = func(f *frontier.Frontier) *pipeline.Engine {
				return pipeline.New(f, nil, score.NewDictionary(), page.DefaultLimits(), time.Now)
			}
			r.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			out, err := r.Run(cmd.Context())
			switch {
			case errors.Is(err, checkpoint.ErrNone):
				return fmt.Errorf("%w; without one, start the worker and the crawls again: their next runs restore the links and the digests of all segments", err)
			case err != nil:
				return err
			}
			return g.Print(out, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "rebuilt %s: %d partitions of the checkpoint of %s, and %d segments since\n",
					out.Frontier, out.Partitions, out.Checkpoint.Format(time.RFC3339), out.Segments)
			})
		},
	}
	s3 = s3Flags(cmd)
	cmd.Flags().StringVar(&r.Worker, "name", os.Getenv("MUNINN_NAME"), "name of the worker; also MUNINN_NAME")
	cmd.Flags().StringVar(&r.Data, "data", fromEnv("MUNINN_DATA", "muninn-data"), "data folder of the worker; also MUNINN_DATA")
	return cmd
}

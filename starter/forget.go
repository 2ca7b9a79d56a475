package starter

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
)

func forgetCommand(g *globals) *cobra.Command {
	yes, worker := false, ""
	cmd := &cobra.Command{
		Use: "forget CRAWL", Short: "Delete a crawl from the frontier of its worker; its archive stays", Args: cli.CrawlArgs(1, 0, "the name of one crawl"),
		Long: `Delete the data of a crawl in the frontier of its worker: known URLs, queues, what it learned. Its archive and its
workflows in Temporal stay. A running crawl is not deleted: stop it first. A crawl whose workflow was terminated is deleted when
its batches have finished or were terminated as well; its leases are released before. If the crawl is started again, its
frontier is restored from its archive. Without --yes, the command only shows what would be deleted.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := activities.AskInput{Crawl: args[0], Dry: !yes}
			if worker != "" {
				in.Queue = names.WorkerQueue(g.temporal.Queue, worker)
			}
			var out frontier.Forgotten
			if err := g.ask(cmd.Context(), names.Forget, names.ForgetID(args[0]), in, &out); err != nil {
				return err
			}
			return g.Print(out, func(w io.Writer) {
				did := "forgot"
				if !yes {
					did = "would forget (add --yes to do it)"
				}
				_, _ = fmt.Fprintf(w, "%s %s: %d URLs of %d queues, %d entries of the frontier; run %d was its last; its archive stays\n",
					did, out.Crawl, out.URLs, out.Queues, out.Entries, out.Run)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it; without this flag, only show what would be deleted")
	cmd.Flags().StringVar(&worker, "worker", "", "the worker of the crawl, if Temporal does not know the crawl any more")
	g.remote(cmd)
	return cmd
}

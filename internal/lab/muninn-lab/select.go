package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/lab/selecting"
	"github.com/muninn-archive/muninn/internal/lab/webs"
)

func selectCommand(l *lab) *cobra.Command {
	o := selecting.DefaultOptions()
	cmd := &cobra.Command{
		Use:   "select WEB",
		Short: "Measure how few decisions it takes to select the pages with a label from WEB",
		Long: `Measure how few decisions it takes to select the pages with a label from WEB.

The labels are the archivist's mind, which answers what the helper of selections asks. The kept set is what the
archivist has kept, and what the helper proposes to keep of the rest. Beside it stand an archivist who is asked about
pages at random, and a classifier that was trained on all labels, on the same features, in ten folds. The settings of the
helper were chosen on the collection "chosen"; results are those of "judged", which has other hosts.

WEB is ` + webs.Forms,
		Args: cli.ExactArgs(1, "one recorded web"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Draws < 1 || len(o.Points) == 0 || slices.Min(o.Points) < 1 || !slices.IsSorted(o.Points) {
				return cli.Usage("--draws must be at least 1, --decisions numbers from 1 on, in order")
			}
			collections, err := selecting.Open(args[0])
			if err != nil {
				return cli.Usage("%w", err)
			}
			c := collections[o.Collection]
			if c == nil {
				return cli.Usage("--collection is %q, must be %q or %q", o.Collection, selecting.Chosen, selecting.Judged)
			}
			result, err := selecting.Measure(c, o)
			if err != nil {
				return cli.Usage("%w", err)
			}
			return l.report(result)
		},
	}
	cmd.Flags().StringVar(&o.Collection, "collection", o.Collection, "part of the pages: judged, or chosen, by which the settings were chosen")
	cmd.Flags().IntVar(&o.Draws, "draws", o.Draws, "number of archivists of each mind, who are asked about other pages first")
	cmd.Flags().IntSliceVar(&o.Points, "decisions", o.Points, "numbers of decisions after which the kept set is judged")
	return cmd
}

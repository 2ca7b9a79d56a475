package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/lab/economy"
	world "github.com/muninn-archive/muninn/internal/webworld/economy"
)

func economyCommand(l *lab) *cobra.Command {
	var dir string
	var o economy.Options
	cmd := &cobra.Command{
		Use:   "economy",
		Short: "Measure how many requests the helper saves on forums, a blog and a wiki",
		Long: `Measure how many requests the helper saves on forums, a blog and a wiki.

The sites are synthetic and emit what the real applications emit: sort orders, reply forms, print views, profiles,
calendars, session links, feeds, archives, histories. Each is crawled in this process, without network, with the
helper off, lenient and strict. The result is the number of requests per distinct post, article or comment.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, mode := range o.Modes {
				if !slices.Contains(economy.Modes, mode) {
					return cli.Usage("--helper is %q, must be some of %q", mode, economy.Modes)
				}
			}
			if o.Objects < 1 || o.Budget < 1 {
				return cli.Usage("--objects and --budget must be at least 1")
			}
			base, err := cli.OpenBase(dir)
			if err != nil {
				return err
			}
			result, err := economy.Measure(cmd.Context(), base, o)
			if err != nil {
				return err
			}
			return l.report(result)
		},
	}
	cmd.Flags().StringVar(&dir, "kb", "", "folder of a knowledge base, in place of the built-in one")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the synthetic sites")
	cmd.Flags().IntVar(&o.Objects, "objects", world.Objects, "number of posts, articles and comments of each site")
	cmd.Flags().IntVar(&o.Budget, "budget", economy.Budget, "largest number of requests for each site and mode")
	cmd.Flags().StringSliceVar(&o.Only, "only", nil, "crawl the sites of these applications only")
	cmd.Flags().StringSliceVar(&o.Modes, "helper", nil, "crawl with these modes of the helper only: off, lenient, strict")
	return cmd
}

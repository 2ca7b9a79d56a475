package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/focus"
	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

func focusCommand(l *lab) *cobra.Command {
	o := focus.DefaultOptions()
	var curves, page, wordnet, definition string
	var isLive, grid, beside bool
	var set []string
	live := focus.Live{PerQueue: []int{crawl.DefaultDefinition().Order.PerQueue}, Batch: []bool{false}}
	cmd := &cobra.Command{
		Use:   "focus WEB",
		Short: "Measure how soon crawls in several orders find the pages of a topic, on a recorded web",
		Long: `Measure how soon crawls in several orders find the pages of a topic, on a recorded web.

WEB is
` + webs.Forms + `.

Topics are labels, or what a definition looks for; each order is given the same examples of a topic, and no labels.`,
		Args: cli.ExactArgs(1, "one recorded web"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Draws < 1 || o.Examples < 1 || o.Seeds < 0 || !(o.Share > 0 && o.Share <= 1) {
				return cli.Usage("--draws and --examples must be at least 1, --random-seeds at least 0, --share in (0,1]")
			}
			for _, flag := range []string{"set", "batch", "per-queue", "grid"} {
				if cmd.Flags().Changed(flag) && !isLive {
					return cli.Usage("--%s is of the live crawl: add --live", flag)
				}
			}
			for _, n := range live.PerQueue {
				if n < 1 || n > crawl.MaxPerQueue {
					return cli.Usage("--per-queue must be between 1 and %d", crawl.MaxPerQueue)
				}
			}
			for _, update := range o.Updates {
				if !slices.Contains(crawl.Updates, update) {
					return cli.Usage("--update is %q, must be some of %q", update, crawl.Updates)
				}
			}
			words, err := focus.WordNet(wordnet)
			if err != nil && cmd.Flags().Changed("wordnet") {
				return cli.Usage("%w", err)
			}
			if words != nil {
				o.Words = words
			} else {
				fmt.Fprintf(os.Stderr, "note: %v; orders that need it are left out\n", err)
			}
			corpus, err := focus.Open(args[0])
			if err != nil {
				return cli.Usage("%w", err)
			}
			if definition != "" {
				d, err := cli.ReadDefinition(definition)
				if err != nil {
					return err
				}
				if err := corpus.LabelBy(d); err != nil {
					return cli.Usage("%w", err)
				}
				live.Definition = &d
			}
			if len(set) > 0 {
				for _, field := range set {
					if name, _, _ := strings.Cut(field, "="); slices.Contains([]string{"order.strategy", "order.update", "order.per_queue", "order.batch"}, name) {
						return cli.Usage("--set %s: settings that are compared have flags of their own: --order, --update, --per-queue, --batch", name)
					}
				}
				tree, err := crawl.Fields(set)
				if err != nil {
					return cli.Usage("--set: %w", err)
				}
				if err := crawl.CheckChange(tree); err != nil {
					return cli.Usage("--set: %w", err)
				}
				if live.Change, err = crawl.JSON(tree); err != nil {
					return cli.Usage("--set: %w", err)
				}
			}
			if isLive {
				if live.Helper, err = aah.Open("", aah.DefaultLimits()); err != nil {
					return err
				}
				if grid {
					o.Updates, live.Batch = crawl.Updates, []bool{false, true}
				}
				o.Live = &live
			}
			if len(corpus.Seeds) == 0 && o.Seeds == 0 {
				return cli.Usage("the corpus names no seeds: write seeds.txt, or take --random-seeds")
			}
			result, err := focus.Measure(corpus, o)
			if err != nil {
				return cli.Usage("%w", err)
			}
			if err := writeFile(curves, result.CSV); err != nil {
				return err
			}
			if err := writeFile(page, result.HTML); err != nil {
				return err
			}
			if err := l.report(result); err != nil || !beside || l.JSON {
				return err
			}
			return result.Beside(l.Out)
		},
	}
	cmd.Flags().StringSliceVar(&o.Topics, "topic", nil, "labels that are looked for (default: those of 40 pages and more; of WebKB course, faculty, student, project)")
	cmd.Flags().StringSliceVar(&o.Orders, "order", nil, "these orders only, by the names of order.strategy; \"oracle\" knows what each page is")
	cmd.Flags().IntVar(&o.Seeds, "random-seeds", o.Seeds, "random pages that each crawl begins at, in place of the corpus' own seeds")
	cmd.Flags().IntVar(&o.Draws, "draws", o.Draws, "crawls of each topic, each with other examples")
	cmd.Flags().IntVar(&o.Examples, "examples", o.Examples, "pages of the topic that the orders are given")
	cmd.Flags().StringSliceVar(&o.Updates, "update", o.Updates, "of the scores of several links to a page, one or more: first, last, avg, max, sum (Plachouras et al. 2014, Table 1)")
	cmd.Flags().Float64Var(&o.Share, "share", o.Share, "of the reachable pages that are crawled")
	cmd.Flags().Uint64Var(&o.Seed, "seed", o.Seed, "of the draws")
	cmd.Flags().StringVar(&wordnet, "wordnet", thesaurus.DefaultWordNet, "folder of a WordNet 3 database, for the orders that go by what words mean")
	cmd.Flags().BoolVar(&isLive, "live", false, "crawl with the frontier, the helper, the scores and the orders of the live crawl, instead of a quick simulation")
	cmd.Flags().IntSliceVar(&live.PerQueue, "per-queue", live.PerQueue, "with --live: order.per_queue, one or more")
	cmd.Flags().BoolSliceVar(&live.Batch, "batch", live.Batch, "with --live: order.batch, one or both of true and false")
	cmd.Flags().BoolVar(&grid, "grid", false, "with --live: all update functions, with and without batch prioritisation (Plachouras et al. 2014, Table 2)")
	cmd.Flags().BoolVar(&beside, "published", false, "print the figures of Batsakis et al. 2009, Table 1, and of Plachouras et al. 2014, Tables 1 and 2, beside those of the same orders and settings")
	cmd.Flags().StringArrayVar(&set, "set", nil, "with --live: FIELD=VALUE of the definition, such as weights.anchor=0; may be repeated")
	cmd.Flags().StringVar(&definition, "definition", "", "definition whose topic tells which pages are relevant, in place of labels; with --live it is crawled for")
	cmd.Flags().StringVar(&curves, "csv", "", "file that the curves of recall are written to")
	cmd.Flags().StringVar(&page, "html", "", "file that tables and plots are written to, as a page")
	return cmd
}

// writeFile lets write fill a file; "" is none.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

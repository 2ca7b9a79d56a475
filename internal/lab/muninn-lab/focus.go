package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/focus"
	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

func focusCommand(l *lab) *cobra.Command {
	o := defaultFocusOptions()
	cmd := &cobra.Command{
		Use:   "focus WEB",
		Short: "Measure how soon crawls in several orders find the pages of a topic, on a recorded web",
		Long: `Measure how soon crawls in several orders find the pages of a topic, on a recorded web.

WEB is
` + webs.Forms + `.

Topics are labels, or what a definition looks for; each order is given the same examples of a topic, and no labels.`,
		Args: cli.ExactArgs(1, "one recorded web"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags().Changed); err != nil {
				return err
			}
			return l.focus(args[0], o)
		},
	}
	o.bind(cmd)
	return cmd
}

// focusOptions are the flags of focus.
type focusOptions struct {
	measure focus.Options

	hosts    bool // politeness on a simulated clock
	live     bool // settings, grid and fields are of live crawls
	settings focus.Live
	grid     bool
	fields   []string // FIELD=VALUE

	learners  []int    // workers
	shares    []string // ways in which they share what they learn
	exchanges []int    // pages between
	turns     bool     // of the workers

	wordnet      string // folder
	wordnetNamed bool   // by the user: the measurement fails without it
	definition   string // file

	curves, page string // files to write
	published    bool
}

func defaultFocusOptions() *focusOptions {
	return &focusOptions{
		measure:  focus.DefaultOptions(),
		settings: focus.Live{PerQueue: []int{crawl.DefaultDefinition().Order.PerQueue}, Batch: []bool{false}},
		wordnet:  thesaurus.DefaultWordNet,
	}
}

func (o *focusOptions) bind(cmd *cobra.Command) {
	f, m := cmd.Flags(), &o.measure
	f.StringSliceVar(&m.Topics, "topic", nil, "measure crawls for the pages with these labels (default: labels of 40 pages and more; of WebKB course, faculty, student, project)")
	f.StringSliceVar(&m.Orders, "order", nil, "measure these orders only, by the names of order.strategy; \"oracle\" knows what each page is")
	f.IntVar(&m.Seeds, "random-seeds", m.Seeds, "start each crawl at this number of random pages, in place of the seeds of the corpus")
	f.IntVar(&m.Draws, "draws", m.Draws, "number of crawls for each topic, each with other examples")
	f.IntVar(&m.Examples, "examples", m.Examples, "number of pages of the topic that each order is given")
	f.IntVar(&m.Keywords, "keywords", 0, "give each order this number of words in place of pages: those that most distinguish the pages of the topic from all others")
	f.StringSliceVar(&m.Updates, "update", m.Updates, "how the scores of several links to a page are combined, one or more of: first, last, avg, max, sum (Plachouras et al. 2014, Table 1)")
	f.Float64Var(&m.Share, "share", m.Share, "end a crawl after this share of the pages that it can reach")
	f.Uint64Var(&m.Seed, "seed", m.Seed, "seed of the random draws")
	f.StringVar(&o.wordnet, "wordnet", o.wordnet, "folder of a WordNet 3 database, for the orders that compare meanings of words")
	f.StringVar(&o.definition, "definition", "", "file of a definition; its topic says which pages are relevant, in place of labels, and --live crawls for it")
	f.BoolVar(&o.live, "live", false, "crawl with the frontier, the helper, the scores and the orders of the live crawl, instead of a quick simulation")
	f.BoolVar(&o.hosts, "hosts", false, "crawl live with politeness on a simulated clock, and print harvest by pages and by time")
	f.IntVar(&o.settings.Pace.Lanes, "lanes", 8, "with --hosts: claims at a time")
	f.DurationVar(&o.settings.Pace.Delay, "delay", time.Second, "with --hosts: between two URLs of a host")
	f.IntSliceVar(&o.settings.PerQueue, "per-queue", o.settings.PerQueue, "with --live: crawl with these values of order.per_queue")
	f.BoolSliceVar(&o.settings.Batch, "batch", o.settings.Batch, "with --live: crawl with these values of order.batch, one or both of true and false")
	f.BoolVar(&o.grid, "grid", false, "with --live: crawl with all update functions, with and without batch prioritisation (Plachouras et al. 2014, Table 2)")
	f.StringArrayVar(&o.fields, "set", nil, "with --live: set a field of the definition, FIELD=VALUE, such as weights.anchor=0; may be repeated")
	f.IntSliceVar(&o.learners, "learners", nil, "crawl in the order that learns by these numbers of workers, each with the pages of some PLDs, such as 1,2,4")
	f.StringSliceVar(&o.shares, "share-learned", focus.Shares, "with --learners: how the workers share what they learn, one or more of: "+strings.Join(focus.Shares, ", "))
	f.IntSliceVar(&o.exchanges, "share-every", []int{100}, "with --learners: share averages and learning updates after these numbers of pages, of all workers together; 0: updates as spread crawls do")
	f.BoolVar(&o.turns, "turns", false, "with --learners: the workers take turns to fetch a page; else the one whose page has the highest priority fetches the next")
	f.BoolVar(&o.published, "published", false, "print the figures of Batsakis et al. 2009, Table 1, and of Plachouras et al. 2014, Tables 1 and 2, beside those of the same orders and settings")
	f.StringVar(&o.curves, "csv", "", "write the curves of recall to this file, as CSV")
	f.StringVar(&o.page, "html", "", "write tables and plots to this file, as a page")
}

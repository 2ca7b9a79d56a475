package starter

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// setting is a flag of `muninn configure` with the fields that it writes: of an override, and of the crawl; empty if there is none.
type setting struct{ flag, override, field, usage string }

var settings = []setting{
	{"min-delay", "min_delay", "politeness.min_delay", "shortest pause between two requests to a host, such as 10s"},
	{"max-delay", "max_delay", "politeness.max_delay", "longest pause, without Crawl-delay"},
	{"max-crawl-delay", "max_crawl_delay", "politeness.max_crawl_delay", "longest Crawl-delay that is obeyed"},
	{"factor", "factor", "politeness.factor", "the pause is this many times the last response time"},
	{"budget", "budget", "budget.pages", "pages of the PLD, or of the crawl"},
	{"per-queue", "per_queue", "order.per_queue", "URLs taken from one queue together"},
	{"weight", "weight", "", "multiplies the priority of the PLD's queue"},
}

func configureCommand(g *globals) *cobra.Command {
	var plds, hosts []string
	reset := false
	cmd := &cobra.Command{
		Use: "configure CRAWL [--pld NAME | --host NAME] FLAGS | FIELD=VALUE… | FILE.yaml", Short: "Change the definition of a crawl while it runs",
		Long: "Change the definition of a crawl while it runs: " + strings.Join(crawl.Changeable, ", ") + `.
Batches that are fetched obey within two seconds. Links that are found later are ordered by it; waiting URLs keep their scores.
With --pld or --host, the flags are settings of these alone: a host's come before those of its PLD, and those before the crawl's.

  muninn configure ravens order.strategy=weighted weights.anchor=3
  muninn configure ravens --pld example.org --min-delay 10s --budget 500
  muninn configure ravens --host archive.example.org --min-delay 30s
  muninn configure ravens --pld example.org --reset`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 {
				return cli.Usage("give the name of a crawl and the fields to change, such as order.strategy=weighted")
			}
			if err := cli.CheckCrawl(args[0]); err != nil {
				return err
			}
			fields, err := changesOf(cmd.Flags(), args[1:], plds, hosts, reset)
			if err != nil {
				return err
			}
			if err := crawl.CheckChange(fields); err != nil {
				return err
			}
			d, err := g.configure(cmd.Context(), args[0], fields)
			if err != nil {
				return err
			}
			warn(d.Definition)
			return g.Print(d, func(w io.Writer) {
				writeConfigured(w, d.Definition, plds, hosts)
				if len(d.Late) > 0 {
					_, _ = fmt.Fprintf(w, "not yet at %s, which the ring has lost: it is put in force there before anything is claimed again\n", strings.Join(d.Late, ", "))
				}
			})
		},
	}
	for _, s := range settings {
		cmd.Flags().String(s.flag, "", s.usage)
	}
	cmd.Flags().StringSliceVar(&plds, "pld", nil, "pay-level domain that the flags are for; several are separated by commas")
	cmd.Flags().StringSliceVar(&hosts, "host", nil, "host that the flags are for; several are separated by commas")
	cmd.Flags().BoolVar(&reset, "reset", false, "take all settings of --pld and --host back")
	g.remote(cmd)
	return cmd
}

// changesOf are the fields that a command line changes.
func changesOf(flags *pflag.FlagSet, args, plds, hosts []string, reset bool) ([]byte, error) {
	named := len(plds)+len(hosts) > 0
	override, fields := map[string]any{}, []string{}
	for _, s := range settings {
		value := flags.Lookup(s.flag)
		switch {
		case !value.Changed:
		case named:
			override[s.override] = number(value.Value.String())
		case s.field == "":
			return nil, cli.Usage("--%s is of a PLD: name it by --pld", s.flag)
		default:
			fields = append(fields, s.field+"="+value.Value.String())
		}
	}
	switch {
	case named && len(args) > 0:
		return nil, cli.Usage("with --pld and --host, give the settings as flags; fields and files are of the whole crawl")
	case reset && (!named || len(override) > 0):
		return nil, cli.Usage("--reset takes all settings of --pld and --host back: name them, without other settings")
	case reset:
		return overridesOf(plds, hosts, nil)
	case named && len(override) == 0:
		return nil, cli.Usage("give the settings of %s, such as --min-delay 10s, or --reset", strings.Join(append(plds, hosts...), ", "))
	case named:
		return overridesOf(plds, hosts, override)
	case len(args) == 0 && len(fields) == 0:
		return nil, cli.Usage("give the name of a crawl and the fields to change, such as order.strategy=weighted")
	case len(fields) > 0 && len(args) == 1 && !strings.Contains(args[0], "="):
		return nil, cli.Usage("give a file, or flags")
	}
	return changes(append(args, fields...))
}

// number is a text as JSON if it is a number there; other texts stay what they are, and are refused where a number must be.
func number(text string) any {
	if n := json.Number(text); json.Valid([]byte(text)) {
		if _, err := n.Float64(); err == nil {
			return n
		}
	}
	return text
}

func writeConfigured(w io.Writer, d crawl.Definition, plds, hosts []string) {
	_, _ = fmt.Fprintf(w, "%s: order %s (update %s, per_queue %d)\n", d.Name, d.Order.Strategy, d.Order.Update, d.Order.PerQueue)
	write := func(name string, entries map[string]crawl.Override) {
		raw, err := json.Marshal(entries[name])
		if err != nil {
			raw = nil // never: it came as JSON
		}
		_, _ = fmt.Fprintf(w, "%s: %s\n", name, raw)
	}
	for _, name := range plds {
		write(name, d.Overrides.PLDs)
	}
	for _, name := range hosts {
		write(name, d.Overrides.Hosts)
	}
}

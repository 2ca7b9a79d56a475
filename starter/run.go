package starter

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/internal/cli"
)

func runCommand(g *globals) *cobra.Command {
	conf := localConfig()
	var topic, name, file string
	var pages int64
	var replace bool
	cmd := &cobra.Command{
		Use:   "run DEFINITION.yaml | URL…",
		Short: "Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end",
		Long: `Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end.

State is in --data, WARC files in --archive. Ctrl-C stops cleanly; run the same command to continue the
crawl. A second Ctrl-C stops at once, and loses nothing either. A crawl that has ended is crawled again:
unchanged pages are archived as revisits.

A running crawl keeps its definition: if the file was changed since, run reports the difference, and
--anew ends the old crawl first. Files of seeds are read when a crawl begins.

S3 keys come from MUNINN_S3_ACCESS_KEY and MUNINN_S3_SECRET_KEY.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if byFile := len(args) > 0 && !strings.Contains(args[0], "://"); byFile && topic+name != "" {
				return cli.Usage("--topic and --crawl are for crawls that are given by URLs: write topic and name into %s", args[0])
			}
			d, err := fromArgs(args, topic, pages, name)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("pages") && pages < 1 {
				return cli.Usage("--pages must be at least 1")
			}
			if err := errors.Join(conf.Load(file), conf.Validate()); err != nil {
				return cli.Usage("%w", err)
			}
			warn(d)
			return g.run(cmd.Context(), localCrawl{conf: conf, definition: d, replace: replace})
		},
	}
	f := cmd.Flags()
	conf.Flags(f)
	f.StringVar(&topic, "topic", "", "what the crawl is about: keywords, separated by commas")
	f.Int64Var(&pages, "pages", 0, "pages at most (default: as the definition says, else 10000)")
	f.StringVar(&name, "crawl", "", "name of a crawl that is given by URLs (default: the first host)")
	f.BoolVar(&replace, "anew", false, "if the crawl runs with another definition, end it and start again")
	configFlag(f, &file)
	f.Lookup("temporal").Usage = "use this Temporal frontend, HOST:PORT, instead of a dev server of its own"
	hide(cmd, "name")
	groupFlags(cmd, "topic", "pages", "crawl", "anew", "data", "archive", "allow-network", "lanes", "config", "temporal")
	return cmd
}

// configFlag is the flag of a configuration file.
func configFlag(f *pflag.FlagSet, file *string) {
	f.StringVar(file, "config", os.Getenv("MUNINN_CONFIG"), "configuration file of the worker (YAML); also MUNINN_CONFIG")
}

func hide(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.Flags().MarkHidden(name)
	}
}

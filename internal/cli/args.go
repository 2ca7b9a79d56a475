package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// ExactArgs is cobra's check as a usage error.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return Usage("give %s", what)
		}
		return nil
	}
}

// NoArgs is for commands that take flags alone.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage("%s takes no argument such as %q: see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// CrawlArgs is ExactArgs for commands whose argument number at is the name of a crawl.
func CrawlArgs(n, at int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := ExactArgs(n, what)(cmd, args); err != nil {
			return err
		}
		return CheckCrawl(args[at])
	}
}

// CheckCrawl reports whether a crawl can have a name, before anybody is asked for it.
func CheckCrawl(name string) error {
	if crawl.ValidName(name) {
		return nil
	}
	return Usage("no crawl can be named %q: letters, digits, '.', '-' and '_', at most %d bytes", name, crawl.MaxName)
}

// Group makes a command one that only has others below it: alone it prints its help, and what is not below it is refused.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		meant := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			meant = fmt.Sprintf("did you mean %s? ", near[0])
		}
		return Usage("unknown command %q for %q: %ssee `%s --help`", args[0], cmd.CommandPath(), meant, cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}

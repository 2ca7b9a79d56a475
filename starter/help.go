package starter

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupFlags makes the help of a command list the flags that are used often first.
func groupFlags(cmd *cobra.Command, often ...string) {
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		first, rest := pflag.NewFlagSet("first", pflag.ContinueOnError), pflag.NewFlagSet("rest", pflag.ContinueOnError)
		first.SortFlags = false
		for _, name := range often {
			if f := c.Flags().Lookup(name); f != nil {
				first.AddFlag(f)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if first.Lookup(f.Name) == nil {
				rest.AddFlag(f)
			}
		})
		_, err := fmt.Fprintf(c.OutOrStderr(), "Usage:\n  %s\n\nFlags:\n%s\nSettings of the worker and flags of all commands (see docs/OPERATING.md):\n%s", c.UseLine(), first.FlagUsages(), rest.FlagUsages())
		return err
	})
}

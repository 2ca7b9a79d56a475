// muninn-lab measures Muninn on recorded data and on synthetic sites. Crawls do not need it.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
)

const program = "muninn-lab"

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

// run runs the command line and returns the exit code.
func run(args []string, out io.Writer) int {
	cmd := root(out)
	cmd.SetArgs(args)
	return cli.Exit(program, cli.Run(context.Background(), cmd))
}

// lab has the flags of all commands.
type lab struct{ cli.Output }

func root(out io.Writer) *cobra.Command {
	l := &lab{cli.Output{Out: out}}
	cmd := l.Root(program, "Measure Muninn on recorded and synthetic webs", `Measure Muninn on recorded and synthetic webs.

Exit codes: 0 done, 1 failed, 2 the command line or the data is wrong.`)
	cmd.AddCommand(aahCommand(l), adaptCommand(l), economyCommand(l), focusCommand(l), selectCommand(l), textCommand(l))
	return cmd
}

// report prints a result as tables, or as JSON.
func (l *lab) report(result interface{ Print(io.Writer) error }) error {
	var failed error
	err := l.Print(result, func(out io.Writer) { failed = result.Print(out) })
	return errors.Join(err, failed)
}

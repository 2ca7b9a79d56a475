// Package starter is the command line: it starts, watches and steers crawls.
package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/worker"
)

// errInterrupted reports that the user ended the command.
var errInterrupted = errors.New("interrupted: run the same command to continue")

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	cmd := root()
	cmd.SetArgs(args)
	err := cli.Run(context.Background(), cmd)
	var none *serviceerror.NamespaceNotFound
	if errors.As(err, &none) {
		err = worker.NoNamespace(none.Namespace)
	}
	if errors.Is(err, errInterrupted) {
		fmt.Fprintln(os.Stderr, "muninn:", err)
		return cli.ExitInterrupted
	}
	return cli.Exit("muninn", err)
}

// globals are the flags that all commands have.
type globals struct {
	temporal worker.Temporal
	ui       string // address of the Temporal UI; empty if it is not known
	verbose  bool
	cli.Output
}

func root() *cobra.Command {
	g := &globals{temporal: worker.DefaultConfig().Temporal, Output: cli.Output{Out: os.Stdout}}
	cmd := g.Root("muninn", "A focused, archiving web crawler on Temporal", `A focused, archiving web crawler on Temporal.

Exit codes: 0 done, 1 failed, 2 the command line or the definition is wrong, 130 interrupted.`)
	cmd.PersistentFlags().BoolVar(&g.verbose, "verbose", false, "log what happens to standard error")
	cmd.AddCommand(runCommand(g), demoCommand(g), devCommand(g), startCommand(g), statusCommand(g), workersCommand(g), explainCommand(g), hostCommand(g), logCommand(g), learnCommand(g), configureCommand(g), submitCommand(g), intakeCommand(g), serveCommand(g), reportCommand(g), forgetCommand(g),
		orderCommand(g, "pause", crawl.StatePaused, "Claim nothing more; running batches finish"),
		orderCommand(g, "resume", "", "Continue after a pause"),
		orderCommand(g, "stop", crawl.StateStopped, "Claim nothing more, finish the running batches and end the run"),
		orderCommand(g, "abort", crawl.StateAborted, "End the run at once; what running batches have fetched is archived"),
		scheduleCommand(g), checkCommand(g), scopeCommand(g), verifyCommand(g), objectsCommand(), searchCommand(g), viewsCommand(g), selectCommand(g), deriveCommand(g), exportCommand(g), mergeCommand(g), frontierCommand(g), kbCommand(g))
	return cmd
}

// remote binds the flags of commands that need a Temporal service.
func (g *globals) remote(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.temporal.Address, "temporal", fromEnv("MUNINN_TEMPORAL", g.temporal.Address), "Temporal frontend, HOST:PORT; also MUNINN_TEMPORAL")
	f.StringVar(&g.temporal.Namespace, "namespace", fromEnv("MUNINN_NAMESPACE", g.temporal.Namespace), "Temporal namespace; also MUNINN_NAMESPACE")
	f.StringVar(&g.ui, "temporal-ui", fromEnv("MUNINN_TEMPORAL_UI", ""), "address of Temporal's UI, for links, such as http://127.0.0.1:8233; also MUNINN_TEMPORAL_UI")
	f.StringVar(&g.temporal.Queue, "task-queue", g.temporal.Queue, "shared task queue of the workers")
	f.BoolVar(&g.temporal.TLS, "tls", false, "reach Temporal over TLS")
	f.StringVar(&g.temporal.CA, "tls-ca", "", "file of the CA certificate (PEM)")
	f.StringVar(&g.temporal.Cert, "tls-cert", "", "file of the client certificate (PEM)")
	f.StringVar(&g.temporal.Key, "tls-key", "", "file of the client key (PEM)")
	f.StringVar(&g.temporal.ServerName, "tls-server-name", "", "name that the server's certificate must have")
}

func fromEnv(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (g *globals) dial(ctx context.Context) (client.Client, error) {
	g.temporal.APIKey = os.Getenv("MUNINN_TEMPORAL_API_KEY")
	if err := g.temporal.Validate(); err != nil {
		return nil, cli.Usage("%w (flags, or MUNINN_TEMPORAL)", err)
	}
	c, err := worker.Dial(ctx, g.temporal, g.logger(os.Stderr))
	if err != nil {
		return nil, fmt.Errorf("%w: `muninn dev` starts one on this machine; --temporal or MUNINN_TEMPORAL names another", err)
	}
	return c, nil
}

func (g *globals) logger(w io.Writer) *slog.Logger {
	level := slog.LevelError
	if g.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// Package starter is the command line: it starts, watches and steers crawls.
package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/version"
	"github.com/muninn-archive/muninn/worker"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitFailed      = 1 // the command did not do what it should
	ExitUsage       = 2 // the command line or the definition is wrong
	ExitInterrupted = 130
)

// usageError is a fault of the command line or of a definition.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errInterrupted says that the user ended the command.
var errInterrupted = errors.New("interrupted: the same command goes on with the crawl")

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	cmd := root()
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(context.Background())
	var wrong *usageError
	var faults crawl.Faults
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(os.Stderr, "muninn:", err)
		return ExitInterrupted
	case errors.As(err, &faults), errors.As(err, &wrong), strings.HasPrefix(err.Error(), "unknown command"):
		fmt.Fprintln(os.Stderr, "muninn:", err)
		return ExitUsage
	}
	fmt.Fprintln(os.Stderr, "muninn:", err)
	return ExitFailed
}

// globals are the flags that all verbs have.
type globals struct {
	temporal worker.Temporal
	ui       string // address of Temporal's UI; empty if it is not known
	json     bool
	verbose  bool
	out      io.Writer
}

func root() *cobra.Command {
	g := &globals{temporal: worker.DefaultConfig().Temporal, out: os.Stdout}
	cmd := &cobra.Command{
		Use:   "muninn",
		Short: "A focused, archiving web crawler on Temporal",
		Long: `A focused, archiving web crawler on Temporal.

Exit codes: 0 done, 1 failed, 2 the command line or the definition is wrong, 130 interrupted.`,
		Version: version.Number, SilenceUsage: true, SilenceErrors: true,
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	cmd.PersistentFlags().BoolVar(&g.json, "json", false, "print JSON, for machines")
	cmd.PersistentFlags().BoolVar(&g.verbose, "verbose", false, "log what happens to standard error")
	cmd.AddCommand(runCommand(g), demoCommand(g), devCommand(g), startCommand(g), statusCommand(g), explainCommand(g), logCommand(g), learnCommand(g), configureCommand(g), submitCommand(g), reportCommand(g), forgetCommand(g),
		signalCommand(g, "pause", "Claim nothing more; batches that are out finish"),
		signalCommand(g, "resume", "Go on after a pause"),
		signalCommand(g, "stop", "Finish what is out and end the run"),
		scheduleCommand(g), checkCommand(g), verifyCommand(g), kbCommand(g), labCommand(g), versionCommand(g))
	return cmd
}

// exactArgs is cobra's check as a usage error.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("give %s", what)
		}
		return nil
	}
}

// remote binds the flags of verbs that speak to a running service.
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
	return worker.Dial(ctx, g.temporal, g.logger(os.Stderr))
}

func (g *globals) logger(w io.Writer) *slog.Logger {
	level := slog.LevelError
	if g.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// print writes a value as JSON, or as people read it.
func (g *globals) print(value any, human func(w io.Writer)) error {
	if !g.json {
		human(g.out)
		return nil
	}
	enc := json.NewEncoder(g.out)
	enc.SetIndent("", " ")
	return enc.Encode(value)
}

func versionCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version.Number, "build": version.Build()}
			return g.print(v, func(w io.Writer) { _, _ = fmt.Fprintln(w, "muninn", version.Number, version.Build()) })
		},
	}
}

// Package cli is what the command lines of Muninn share: exit codes, errors of usage, output for people and for machines,
// and the reading of what arguments name.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/version"
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

// Usage makes a fault of the command line, as fmt.Errorf does.
func Usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// IsUsage reports whether an error is a fault of the command line.
func IsUsage(err error) bool {
	var usage *usageError
	return errors.As(err, &usage)
}

// Run runs a command line: what is wrong with a flag's value is said in plain words.
func Run(ctx context.Context, cmd *cobra.Command) error {
	plainFaults(cmd)
	return cmd.ExecuteContext(ctx)
}

// Exit prints the error that a program ended with, and returns its exit code.
func Exit(program string, err error) int {
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
	var wrong *usageError
	var faults crawl.Faults
	if errors.As(err, &faults) || errors.As(err, &wrong) {
		return ExitUsage
	}
	return ExitFailed
}

// Output prints results.
type Output struct {
	JSON bool // for machines
	Out  io.Writer
}

// Root is a program's command, to which its commands are added.
func (o *Output) Root(name, short, long string) *cobra.Command {
	cmd := Group(&cobra.Command{Use: name, Short: short, Long: long, Version: version.Number, SilenceUsage: true, SilenceErrors: true})
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	cmd.PersistentFlags().BoolVar(&o.JSON, "json", false, "print JSON, for machines")
	cmd.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Args: NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version.Number, "build": version.Build()}
			return o.Print(v, func(w io.Writer) { _, _ = fmt.Fprintln(w, name, version.Number, version.Build()) })
		},
	})
	return cmd
}

// Print writes a value as JSON, or as people read it.
func (o *Output) Print(value any, human func(w io.Writer)) error {
	if !o.JSON {
		human(o.Out)
		return nil
	}
	enc := json.NewEncoder(o.Out)
	enc.SetIndent("", " ")
	return enc.Encode(value)
}

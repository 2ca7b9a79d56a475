package main

import (
	"errors"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
)

// Wrong flags and settings end with 2, so that who starts the program anew knows that it is no use.
func TestExitCodes(t *testing.T) {
	for _, args := range [][]string{{"--lanes", "abc"}, {"--no-such-flag"}, {"--lanes", "0", "--temporal", "127.0.0.1:1"}, {"check", "--config", "/no/such/file"}, {"chekc"}} {
		cmd := command()
		cmd.SetArgs(args)
		if code := cli.Exit(program, cmd.ExecuteContext(t.Context())); code != cli.ExitUsage {
			t.Errorf("%q: %d", args, code)
		}
	}
	cmd := command()
	cmd.SetArgs([]string{"check", "--temporal", "127.0.0.1:1", "--data", t.TempDir()})
	if code := cli.Exit(program, cmd.ExecuteContext(t.Context())); code != cli.ExitFailed {
		t.Errorf("Temporal away: %d", code)
	}
	if cli.Exit(program, nil) != cli.ExitOK || cli.Exit(program, errors.New("x")) != cli.ExitFailed {
		t.Error("codes")
	}
}

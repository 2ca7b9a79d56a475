package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cli"
)

// Wrong flags and settings end with exit code 2, so that a service manager does not start the program again.
func TestExitCodes(t *testing.T) {
	for args, says := range map[string]string{
		"--lanes abc": `"abc" is not a whole number`, "--no-such-flag": "--no-such-flag", "--lanes 0 --temporal 127.0.0.1:1": "lanes must be at least 1",
		"check --config /no/such/file": "/no/such/file", "chekc": `"chekc"`, "check all": `"all"`, "--temporal nonsense": "write HOST:PORT", "--disk-floor 1MiB": "at least 256.0 MiB",
	} {
		cmd := command()
		cmd.SetArgs(strings.Fields(args))
		err := cli.Run(t.Context(), cmd)
		if code := cli.Exit(program, err); code != cli.ExitUsage || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %d, %v, want %q", args, code, err, says)
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

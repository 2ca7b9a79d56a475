package main

import (
	"errors"
	"testing"
)

// Wrong flags and settings end with 2, so that who starts the program anew knows that it is no use.
func TestExitCodes(t *testing.T) {
	for _, args := range [][]string{{"--lanes", "abc"}, {"--no-such-flag"}, {"--lanes", "0", "--temporal", "127.0.0.1:1"}, {"check", "--config", "/no/such/file"}, {"chekc"}} {
		cmd := command()
		cmd.SetArgs(args)
		if code := exitCode(cmd.ExecuteContext(t.Context())); code != exitUsage {
			t.Errorf("%q: %d", args, code)
		}
	}
	cmd := command()
	cmd.SetArgs([]string{"check", "--temporal", "127.0.0.1:1", "--data", t.TempDir()})
	if code := exitCode(cmd.ExecuteContext(t.Context())); code != exitFailed {
		t.Errorf("Temporal away: %d", code)
	}
	if exitCode(nil) != 0 || exitCode(errors.New("x")) != exitFailed {
		t.Error("codes")
	}
}

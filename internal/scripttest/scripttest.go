// Package scripttest compares what tests make with files of testdata: scripts whose commands a test carries out, with what each
// command prints, and golden files.
//
// A line of a script is a command. The lines below it that begin with two blanks are what it prints. Empty lines and lines that
// begin with # are comments.
package scripttest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what scripts print, and golden files, into testdata")

// Files runs each script testdata/*.txt of the package as a subtest. run carries a script out and returns it with what its
// commands print now, as Run does: it must be what the file says, or with the flag -rewrite becomes that.
func Files(t *testing.T, run func(t *testing.T, script string) string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Golden(t, file, run(t, string(text)))
		})
	}
}

// Carried runs scripts as Files does, of what must survive that it is written out and read again: each script also runs once for each of its
// commands with that before it, and must print the same. begin starts a run: command carries a line out, carry writes the state out and
// continues with what it reads.
func Carried(t *testing.T, begin func(t *testing.T) (command func(words []string) []string, carry func())) {
	t.Helper()
	run := func(t *testing.T, script string, carried int) (printed string, commands int) {
		command, carry := begin(t)
		printed = Run(script, func(words []string) []string {
			if commands == carried {
				carry()
			}
			commands++
			return command(words)
		})
		return printed, commands
	}
	Files(t, func(t *testing.T, script string) string {
		got, commands := run(t, script, -1)
		for i := range commands {
			if again, _ := run(t, script, i); again != got {
				t.Errorf("written out before command %d it prints\n%s", i+1, again)
			}
		}
		return got
	})
}

// Golden compares a text, byte for byte, with a file; with the flag -rewrite the file becomes it.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s would be (-rewrite takes it over)\n%s", file, got)
	}
}

// Run carries out the commands of a script, and returns it with what they print now. command gets the words of a line, and
// returns the lines that it prints.
func Run(script string, command func(words []string) []string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out.WriteString(line)
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		for _, answer := range command(words) {
			out.WriteString("  " + answer + "\n")
		}
	}
	return out.String()
}

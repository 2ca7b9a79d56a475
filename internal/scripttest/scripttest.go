// Package scripttest runs data-driven tests: scripts whose commands a test carries out, and what each command prints.
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

var rewrite = flag.Bool("rewrite", false, "write what the scripts print into testdata")

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
			switch got := run(t, string(text)); {
			case got == string(text):
			case *rewrite:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s prints (-rewrite takes it over)\n%s", file, got)
			}
		})
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

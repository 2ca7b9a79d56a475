package scripttest

import (
	"strings"
	"testing"
)

// TestRun: the expected output in a script is replaced by the output of its commands; comments stay.
func TestRun(t *testing.T) {
	const script = "# a comment\nsay raven crow\n  what it printed before\n\nbe silent\n  nothing of this stays\nsay fox\n"
	const want = "# a comment\nsay raven crow\n  raven\n  crow\n\nbe silent\nsay fox\n  fox\n"
	got := Run(script, func(words []string) []string {
		if words[0] == "say" {
			return words[1:]
		}
		return nil
	})
	if got != want {
		t.Errorf("prints\n%s", got)
	}
}

// TestFiles: each script of testdata is run.
func TestFiles(t *testing.T) {
	var ran []string
	Files(t, func(t *testing.T, script string) string {
		ran = append(ran, t.Name())
		return Run(script, func(words []string) []string { return []string{strings.ToUpper(words[0])} })
	})
	if got := strings.Join(ran, " "); got != "TestFiles/first TestFiles/second" {
		t.Errorf("run are %s", got)
	}
}

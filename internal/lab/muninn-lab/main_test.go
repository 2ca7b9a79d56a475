package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/internal/cli"
)

// A wrong command line gives a usage error that names the flag, before anything is measured.
func TestUsage(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, c := range []struct {
		args string
		says []string
	}{
		{"fly", []string{`unknown command "fly"`, "muninn-lab --help"}},
		{"economy fly", []string{`"fly"`, "muninn-lab economy --help"}},
		{"economy --objects many", []string{`"many" is not a whole number`}},
		{"focus --share half WEB", []string{`"half" is not a number`}},
		{"aah", []string{"index.jsonl"}},
		{"aah " + nowhere, []string{nowhere}},
		{"aah --kb " + nowhere + " .", []string{"--kb", nowhere}},
		{"adapt", []string{"index.jsonl"}},
		{"adapt " + nowhere, []string{nowhere}},
		{"economy --helper strange", []string{"--helper", `"strange"`, "lenient"}},
		{"economy --objects 0", []string{"--objects"}},
		{"economy --budget 0", []string{"--budget"}},
		{"focus", []string{"one recorded web"}},
		{"focus --no-such-flag WEB", []string{"--no-such-flag"}},
		{"focus --draws 0 WEB", []string{"--draws"}},
		{"focus --examples 0 WEB", []string{"--examples"}},
		{"focus --random-seeds -1 WEB", []string{"--random-seeds"}},
		{"focus --share 0 WEB", []string{"--share"}},
		{"focus --share 1.5 WEB", []string{"--share"}},
		{"focus --share NaN WEB", []string{"--share"}},
		{"focus --update best WEB", []string{"--update", `"best"`, "max"}},
		{"focus --per-queue 5 WEB", []string{"--per-queue", "--live"}},
		{"focus --batch true WEB", []string{"--batch", "--live"}},
		{"focus --grid WEB", []string{"--grid", "--live"}},
		{"focus --set weights.anchor=0 WEB", []string{"--set", "--live"}},
		{"focus --live --per-queue 0 WEB", []string{"--per-queue"}},
		{"focus --share-every 5 WEB", []string{"--share-every", "--learners"}},
		{"focus --learners 2 --live WEB", []string{"--learners", "--live"}},
		{"focus --learners 0 WEB", []string{"--learners"}},
		{"focus --learners 2 --share-every -1 WEB", []string{"--share-every"}},
		{"focus --learners 2 --share-learned some WEB", []string{"--share-learned", "some"}},
		{"focus --live --set order.batch=true WEB", []string{"--set order.batch:", "--batch"}},
		{"focus --live --set weights.nothing=1 WEB", []string{"--set", "weights.nothing"}},
		{"focus --wordnet " + nowhere + " webworld:1", []string{nowhere}},
		{"text", []string{"index.jsonl"}},
		{"text " + nowhere, []string{nowhere}},
		{"text --use all .", []string{"--use", `"all"`, "judging"}},
		{"text --worst -1 .", []string{"--worst"}},
		{"text --gold " + nowhere + " .", []string{"--gold", nowhere}},
		{"text --show a.html " + nowhere, []string{nowhere}},
		{"text --draw " + nowhere, []string{nowhere}},
		{"text --kb " + nowhere + " .", []string{"--kb", nowhere}},
		{"select", []string{"one recorded web"}},
		{"select " + nowhere, []string{nowhere}},
		{"select --draws 0 WEB", []string{"--draws"}},
		{"select --decisions 100,50 WEB", []string{"--decisions"}},
		{"select --collection all webworld:1", []string{"--collection", `"all"`, "judged"}},
		{"focus " + nowhere, []string{nowhere}},
		{"focus webworld:0", []string{"webworld:SITES:SEED"}},
		{"focus --definition " + nowhere + " webworld:1", []string{nowhere}},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, _, said := call(t, strings.Fields(c.args)...)
			if code != cli.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cli.ExitUsage)
			}
			for _, word := range c.says {
				if !strings.Contains(said, word) {
					t.Errorf("%q is not in: %s", word, said)
				}
			}
		})
	}
}

// call runs a command line, and returns its exit code, standard output and standard error.
func call(t *testing.T, args ...string) (code int, printed, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	text := make(chan string)
	go func() {
		raw, _ := io.ReadAll(r)
		text <- string(raw)
	}()
	var out strings.Builder
	code = run(args, &out)
	os.Stderr = stderr
	_ = w.Close()
	return code, out.String(), <-text
}

// The help of a flag is a phrase that can be read without the name of the flag.
func TestFlagHelp(t *testing.T) {
	for _, cmd := range root(io.Discard).Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { wholePhrase(t, cmd, f) })
	}
}

func wholePhrase(t *testing.T, cmd *cobra.Command, f *pflag.Flag) {
	t.Helper()
	first, _, _ := strings.Cut(f.Usage, " ")
	for _, part := range []string{"of", "for", "from", "by", "that", "these", "to", "what", "whose"} {
		if first == part {
			t.Errorf("%s --%s: %q is a part of a sentence", cmd.Name(), f.Name, f.Usage)
		}
	}
}

// The options of focus follow from flags; --grid means all update functions, with and without batch prioritisation.
func TestFocusOptions(t *testing.T) {
	l := &lab{cli.Output{Out: io.Discard}}
	o := defaultFocusOptions()
	cmd := focusCommand(l)
	cmd.ResetFlags()
	o.bind(cmd)
	if err := cmd.ParseFlags(strings.Fields("--live --grid --per-queue 1,5 --set weights.anchor=0 --topic a,b")); err != nil {
		t.Fatal(err)
	}
	if err := o.validate(cmd.Flags().Changed); err != nil {
		t.Fatal(err)
	}
	if len(o.measure.Updates) != 5 || len(o.settings.Batch) != 2 || len(o.settings.PerQueue) != 2 || len(o.measure.Topics) != 2 {
		t.Errorf("%+v, live %+v", o.measure, o.settings)
	}
	if change := string(o.settings.Change); change != `{"weights":{"anchor":0}}` {
		t.Errorf("change %s", change)
	}
}

// A synthetic web is measured, printed and written.
func TestFocus(t *testing.T) {
	dir := t.TempDir()
	page, curves := filepath.Join(dir, "page.html"), filepath.Join(dir, "curves.csv")
	code, printed, said := call(t, "focus", "webworld:2", "--draws", "1", "--order", "breadth-first", "--html", page, "--csv", curves)
	if code != cli.ExitOK || !strings.Contains(printed, "breadth-first") {
		t.Fatalf("exit code %d: %s%s", code, printed, said)
	}
	for name, holds := range map[string]string{page: "<svg", curves: "breadth-first"} {
		raw, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(raw), holds) {
			t.Errorf("%s: %v, %d bytes", name, err, len(raw))
		}
	}
}

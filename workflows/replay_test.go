package workflows

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// recorded are the histories that TestRecordHistories records of a version.
var recorded = []string{
	"crawl", "controller", "controller-continued", "controller-continuing", "batch", "batch-failed", "batch-reset", "politeness",
	"crawl-cancelled", "controller-cancelled",
}

// TestReplay replays histories of real crawls: a folder for each release, whose histories stay as they are, and the folder next with those
// of the code that is to be released. If it fails, a change breaks the crawls that run while it is deployed: choose
// between the old code and the new by workflow.GetVersion. CONTRIBUTING.md says when histories are recorded.
func TestReplay(t *testing.T) {
	folders, err := filepath.Glob("testdata/histories/*")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.json*"))
		if err != nil {
			t.Fatal(err)
		}
		release := filepath.Base(folder)
		for _, file := range files {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			have[release+"/"+name] = true
			t.Run(release+"/"+name, func(t *testing.T) { replay(t, file) })
		}
		for _, name := range recorded {
			if !have[release+"/"+name] {
				t.Errorf("%s: there is no history %s", release, name)
			}
		}
	}
	for _, name := range []string{
		"next/crawl",
		"next/cluster",
		"next/crawl-spread", // of two workers, while one joins and is lost, and another one leaves
		"next/controller-spread",
		"next/batch-spread",
		"before-0.1.0/crawl-numbered-by-frontier",
		"before-0.1.0/crawl-cancelled-waiting", // of a version that waited for its controller without a bound
	} {
		if !have[name] {
			t.Errorf("there is no history %s", name)
		}
	}
}

func replay(t *testing.T, file string) {
	history, err := client.HistoryFromJSON(bytes.NewReader(read(t, file)), client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// By default a step of a workflow that takes a second counts as a deadlock, and a busy machine takes that.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		t.Fatal(err)
	}
	Register(replayer)
	if err := replayer.ReplayWorkflowHistory(quiet(), history); err != nil {
		t.Errorf("%s does not replay: %v", file, err)
	}
}

// read reads a file that may be compressed.
func read(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(file, ".gz") {
		return raw
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestVersionsAreDocumented: the page names all changes whose former branches may be deleted one day.
func TestVersionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture/upgrades.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bversion[A-Z]\w* *= "([^"]+)"`)
	n := 0
	for _, file := range files {
		for _, found := range named.FindAllStringSubmatch(string(read(t, file)), -1) {
			if n++; !strings.Contains(string(page), "| `"+found[1]+"` |") {
				t.Errorf("%s has the change %q, which docs/architecture/upgrades.md does not list", file, found[1])
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d changes are found", n)
	}
}

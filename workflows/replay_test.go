package workflows

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
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
		"next/derive",
		"next/cluster",
		"next/export",
		"next/crawl-spread", // of two workers, while one joins and is lost, and another one leaves
		"next/controller-spread",
		"next/batch-spread", // with links that no worker takes at once
		"next/politeness-moved",
		"next/politeness-reset", // it ends, as the ring does
		"next/cluster-reset",
		"next/crawl-reset",                 // after it was terminated: it finds no controller, and continues as new
		"before-owes-at-once/crawl-spread", // of the first versions that spread crawls
		"before-owes-at-once/controller-spread",
		"before-owes-at-once/batch-spread",
		"before-0.1.0/crawl-numbered-by-frontier",
		"before-0.1.0/crawl-cancelled-waiting", // of a version that waited for its controller without a bound
	} {
		if !have[name] {
			t.Errorf("there is no history %s", name)
		}
	}
}

func replay(t *testing.T, file string) {
	h, err := client.HistoryFromJSON(bytes.NewReader(read(t, file)), client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// By default a step of a workflow that takes a second counts as a deadlock, and a busy machine takes that.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		t.Fatal(err)
	}
	Register(replayer)
	var options worker.ReplayWorkflowHistoryOptions
	options.OriginalExecution.RunID = resetRun(t, h)
	if err := replayer.ReplayWorkflowHistoryWithOptions(quiet(), h, options); err != nil {
		t.Errorf("%s does not replay: %v", file, err)
	}
}

// resetRun is the ID of the run of a history that was reset, as its workflow has marked it; empty if there is no such mark: then it is replayed as the execution that was not.
func resetRun(t *testing.T, h *history.History) (run string) {
	t.Helper()
	for _, e := range h.Events {
		if marker := e.GetMarkerRecordedEventAttributes(); marker.GetMarkerName() == "SideEffect" {
			if err := converter.GetDefaultDataConverter().FromPayloads(marker.Details["data"], &run); err != nil {
				t.Fatal(err)
			}
		}
	}
	return run
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
	for change := range changes(t) {
		if !strings.Contains(string(page), "| `"+change+"` |") {
			t.Errorf("the code has the change %q, which docs/architecture/upgrades.md does not list", change)
		}
	}
}

// TestVersionsAreRecorded: of each change, the histories of the code that is to be released have the newest version. A branch that is in no history is not replayed.
func TestVersionsAreRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/next/*.json*")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, file := range files {
		history, err := client.HistoryFromJSON(bytes.NewReader(read(t, file)), client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range history.Events {
			marker, change, version := e.GetMarkerRecordedEventAttributes(), "", 0
			if marker.GetMarkerName() != "Version" {
				continue
			}
			for key, into := range map[string]any{"change-id": &change, "version": &version} {
				if err := converter.GetDefaultDataConverter().FromPayloads(marker.Details[key], into); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
			have[change] = max(have[change], version)
		}
	}
	for change, newest := range changes(t) {
		if have[change] != newest {
			t.Errorf("histories have version %d of the change %q, and the code has %d: record them again, as CONTRIBUTING.md says", have[change], change, newest)
		}
	}
}

// changes are the changes that the code of workflows names, each with its newest version.
func changes(t *testing.T) map[string]int {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			code = append(code, read(t, file)...)
		}
	}
	code = bytes.Replace(code, []byte(`GetVersion(ctx, fmt.Sprintf("reset-%d"`), nil, 1) // a mark of the moment, and no change: see resets
	newest := map[string]int{}
	calls := regexp.MustCompile(`\bGetVersion\(ctx, (version\w+), workflow\.DefaultVersion, (\d+)\)`).FindAllSubmatch(code, -1)
	for _, found := range calls {
		named := regexp.MustCompile(`\b` + string(found[1]) + ` *= "([^"]+)"`).FindSubmatch(code)
		if named == nil {
			t.Fatalf("the constant %s has no text", found[1])
		}
		version, err := strconv.Atoi(string(found[2]))
		if err != nil {
			t.Fatal(err)
		}
		newest[string(named[1])] = max(newest[string(named[1])], version)
	}
	if all := bytes.Count(code, []byte("GetVersion(")); len(newest) < 5 || len(calls) != all {
		t.Fatalf("of %d calls of GetVersion only the changes %v are found", all, newest)
	}
	return newest
}

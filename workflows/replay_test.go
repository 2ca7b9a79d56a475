package workflows

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// TestReplay replays histories of real crawls. If it fails, a change breaks the crawls that run while it is
// deployed: use workflow.GetVersion to choose between the old code and the new. MUNINN_RECORD=1 go test -run
// TestRecordHistories ./internal/integration records the histories again, which is right only as long as
// nothing is deployed. The histories that it does not record are of earlier versions and stay as they are.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json*")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		have[name] = true
		t.Run(name, func(t *testing.T) {
			history, err := client.HistoryFromJSON(bytes.NewReader(read(t, file)), client.HistoryJSONOptions{})
			if err != nil {
				t.Fatal(err)
			}
			replayer := worker.NewWorkflowReplayer()
			Register(replayer)
			if err := replayer.ReplayWorkflowHistory(quiet(), history); err != nil {
				t.Errorf("%s does not replay: %v", file, err)
			}
		})
	}
	for _, name := range []string{
		"crawl", "crawl-numbered-by-frontier", "controller", "controller-continued", "controller-continuing", "batch", "batch-failed", "batch-reset", "politeness",
		"crawl-cancelled", "controller-cancelled",
		"crawl-cancelled-waiting", // of a version that waited for its controller without a bound
	} {
		if !have[name] {
			t.Errorf("there is no history %s", name)
		}
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

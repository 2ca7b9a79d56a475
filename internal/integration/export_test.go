package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/workflows"
)

// recordExport is the value of recordEnv with which TestExport records the history of its workflow alone.
const recordExport = "export"

// TestExport: the workflow exports a crawl to a folder that the worker may use, and writes the files that an export without Temporal writes. All of its records have the
// SHA-256 of their sources, and the checker of archives finds no fault.
func TestExport(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7}, 4, 60))
	dir := t.TempDir()
	conf := Config(server, world, dir)
	exports := filepath.Join(dir, "exports")
	conf.Archives = append(conf.Archives, exports)
	StartWorker(t, conf)
	d := Definition("ravens", world)
	StartCrawl(t, server.Client, d)
	Result(t, server.Client, d.Name, CrawlTime)

	in := workflows.Exporting{Exported: activities.Exported{To: exports, Order: export.Order{
		Name: "ravens", Format: export.WARC, Size: 40_000, Crawls: []archive.CrawlAt{{Name: d.Name}}, Software: "Muninn test",
	}}}
	id := names.ExportID("ravens", "1")
	run, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: names.TaskQueue}, names.Export, in)
	if err != nil {
		t.Fatal(err)
	}
	var result export.Result
	if err := run.Get(t.Context(), &result); err != nil {
		t.Fatal(err)
	}
	if result.Parts < 2 || result.Captures < 60 || result.Missing > 0 || result.Damaged > 0 {
		t.Errorf("%+v", result)
	}
	from, to, local := openStore(t, conf.Archive), openStore(t, exports), t.TempDir()
	checked, err := export.Check(t.Context(), from, to, result.Manifest)
	if err != nil || len(checked.Faults) > 0 || checked.Records != result.Records {
		t.Errorf("%d of %d records, %v: %s", checked.Records, result.Records, err, strings.Join(checked.Faults, "\n"))
	}
	report, err := archivecheck.CheckExport(os.DirFS(exports))
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("%v: %s", err, strings.Join(report.Faults, "\n"))
	}
	if _, err := export.Run(t.Context(), from, openStore(t, local), in.Order, nil); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, exports, local)

	in.To = filepath.Join(t.TempDir(), "elsewhere")
	run, err = server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.ExportID("ravens", "2"), TaskQueue: names.TaskQueue}, names.Export, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "archive-allow") {
		t.Errorf("an export to a folder that the worker may not use: %v", err)
	}
	if os.Getenv(recordEnv) == recordExport {
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		(&recorder{t, server, strings.NewReplacer(dir, "/srv/muninn", "127.77.", "10.77.", host+":", "worker:", "@"+host+"/", "@worker/")}).record("export", id, "")
	}
}

func openStore(t *testing.T, dir string) archive.Store {
	t.Helper()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// sameFiles compares the files of two folders.
func sameFiles(t *testing.T, want, got string) {
	t.Helper()
	names := func(dir string) (list []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	if a, b := names(want), names(got); strings.Join(a, " ") != strings.Join(b, " ") {
		t.Errorf("%s\nand %s", a, b)
	}
	for _, name := range names(want) {
		a, errA := os.ReadFile(filepath.Join(want, name))
		b, errB := os.ReadFile(filepath.Join(got, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s: %d and %d bytes, %v, %v", name, len(a), len(b), errA, errB)
		}
	}
}

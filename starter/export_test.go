package starter

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/cli"
)

// exportSaid runs `export` or `merge` and returns its output and its error.
func exportSaid(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	g := &globals{Output: cli.Output{Out: &out}}
	cmd := exportCommand(g)
	if args[0] == "merge" {
		cmd = mergeCommand(g)
	}
	cmd.Flags().BoolVar(&g.JSON, "json", false, "")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args[1:])
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// TestExport: records are exported and checked, by people's output and by JSON; a second time nothing is written.
func TestExport(t *testing.T) {
	dir, _ := smallArchive(t)
	to := filepath.Join(t.TempDir(), "out")
	text, err := exportSaid(t, "export", dir, "some/prefix/c", "--to", to, "--check")
	if err != nil || !strings.Contains(text, "1 captures, 4 records in 1 part") || !strings.Contains(text, "0 faults") {
		t.Errorf("%v: %s", err, text)
	}
	text, err = exportSaid(t, "merge", dir, "--to", to, "--json")
	var said exported
	if errJSON := json.Unmarshal([]byte(text), &said); err != nil || errJSON != nil || said.Passed != 1 || said.Captures != 1 || said.Manifest == "" || said.Checked != nil {
		t.Errorf("%v, %v: %s", err, errJSON, text)
	}
	if report, err := archivecheck.CheckExport(os.DirFS(to)); err != nil || len(report.Faults) > 0 || report.Records != 5 {
		t.Errorf("%+v, %v", report, err)
	}
	for format, suffix := range map[string]string{"wacz": ".wacz", "csv": ".csv", "parquet": ".parquet"} {
		to := t.TempDir()
		if text, err := exportSaid(t, "export", dir, "some/prefix/c", "--to", to, "--format", format); err != nil {
			t.Errorf("%s: %v: %s", format, err, text)
		}
		if found, _ := filepath.Glob(filepath.Join(to, "c-*"+suffix)); len(found) == 0 {
			t.Errorf("%s: no file is written", format)
		}
	}
}

// TestExportWrong: a fault names the flag or the file, and its exit code is that of a wrong command line.
func TestExportWrong(t *testing.T) {
	dir, _ := smallArchive(t)
	rules := filepath.Join(t.TempDir(), "rules")
	if err := os.WriteFile(rules, []byte("http://a.example/*\nno url\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to, linked := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, dir)
	for _, test := range []struct {
		args  string
		wants string
	}{
		{"export " + dir, "names of one or more crawls"},
		{"export " + dir + " c", "--to: name the folder"},
		{"export " + dir + " ../c --to " + to, `"../c"`},
		{"export " + dir + " c --to " + to + " --format zip", `--format: "zip" must be`},
		{"export " + dir + " c --to " + to + " --size big", "--size:"},
		{"export " + dir + " c --to " + to + " --size 1", "--size: 1 bytes"},
		{"export " + dir + " c --to " + to + " --name a/b", "--name:"},
		{"export " + dir + " c --to " + to + " --only nowhere", "--only: open nowhere"},
		{"export " + dir + " c --to " + to + " --only " + rules, rules + ":2:"},
		{"export " + dir + " some/prefix/c --to " + dir, "is the archive itself"},
		{"export " + dir + " some/prefix/c --to " + dir + "/some/prefix/c/data", "lies within the archive"},
		{"export " + dir + "/some prefix/c --to " + dir + "/some/new/folder", "lies within the archive"},
		{"export " + dir + " some/prefix/c --to " + linked + "/some/new", "lies within the archive"},
		{"export " + dir + " some/prefix/c --to ftp://x", "--to:"},
		{"export " + dir + " some/prefix/c --to " + dir + "/some/prefix/c/segments", "may hold the manifests"},
		{"export " + dir + " some/prefix/c --to " + to + " --format csv --check", "--check compares records"},
		{"export " + dir + " some/prefix/c --to " + to + " --format csv --on-workers", "--on-workers: workers write records"},
		{"export " + dir + " some/prefix/c --to " + to + " --on-workers --s3-region x", "--on-workers: workers reach S3 by their own settings"},
		{"export " + dir + " some/prefix/c --to " + to + " --format parquet --size 2GiB", "--size is of files of records"},
		{"merge " + dir + " --to " + to + " --on-workers", "--on-workers: name the crawls"},
		{"merge", "give an archive"},
	} {
		if text, err := exportSaid(t, strings.Fields(test.args)...); err == nil || !cli.IsUsage(err) || !strings.Contains(err.Error(), test.wants) {
			t.Errorf("%s: %v, want %q; %s", test.args, err, test.wants, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "some", "new")); err == nil || len(filesOf(t, dir)) != len(before) {
		t.Error("something was made within the archive")
	}
	if _, err := exportSaid(t, "export", dir, "nobody", "--to", to); err == nil || !strings.Contains(err.Error(), `there is no crawl "nobody" in `+dir) {
		t.Error(err)
	}
	if err := os.WriteFile(rules, []byte("http://z.example/*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exportSaid(t, "export", dir, "some/prefix/c", "--to", to, "--only", rules); err == nil || !strings.Contains(err.Error(), "--only "+rules) {
		t.Error(err)
	}
	if _, err := exportSaid(t, "merge", t.TempDir(), "--to", to); err == nil || !strings.Contains(err.Error(), "holds no crawl") {
		t.Error(err)
	}
}

// TestExportDamaged: a segment that cannot be read is named, and the command fails.
func TestExportDamaged(t *testing.T) {
	dir, m := smallArchive(t)
	if err := os.Truncate(filepath.Join(dir, m.WARC.Key), m.WARC.Bytes/2); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	text, err := exportSaid(t, "merge", dir, "--to", to)
	if err == nil || !strings.Contains(err.Error(), "1 segment cannot be read: see c-") {
		t.Errorf("%v: %s", err, text)
	}
	lists, _ := filepath.Glob(filepath.Join(to, "*.missing.jsonl"))
	if len(lists) != 1 {
		t.Fatal(lists)
	}
	if raw, err := os.ReadFile(lists[0]); err != nil || !strings.Contains(string(raw), m.WARC.Key) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestExportDamagedTables: a table that lacks something is an error, also when it is there already.
func TestExportDamagedTables(t *testing.T) {
	dir, m := smallArchive(t)
	if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(m.WARC.Key)), m.WARC.Bytes/2); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for range 2 {
		text, err := exportSaid(t, "export", dir, "some/prefix/c", "--to", to, "--format", "parquet")
		if err == nil || !strings.Contains(err.Error(), "lack what cannot be read, 1 place: see `muninn verify`") || !strings.Contains(text, "damaged: ") {
			t.Errorf("%v: %s", err, text)
		}
	}
}

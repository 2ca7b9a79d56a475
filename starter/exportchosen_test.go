package starter

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
	"github.com/muninn-archive/muninn/internal/page"
)

// bird is a response of the archive of birds.
type bird struct {
	url, mime, path, body string
	days                  int
	revisit               bool // the server says that it has not changed
}

// birds is an archive of two pages with pictures, each captured twice: the second captures are revisits.
func birds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	const raven, soup = "<title>Raven</title><p>The raven flew over the hills.</p><img src=/raven.png>", "<title>Soup</title><p>An onion and a leek.</p><img src=/soup.png>"
	seen := map[string]crawl.Visit{}
	for day, list := range [][]bird{
		{
			{url: "http://a.example/robots.txt", mime: "text/plain", path: "SP", body: "User-agent: *"},
			{url: "http://a.example/raven", mime: "text/html", path: "S", body: raven},
			{url: "http://a.example/raven.png", mime: "image/png", path: "SE", body: "\x89PNG raven"},
			{url: "http://a.example/soup", mime: "text/html", path: "SL", body: soup},
			{url: "http://a.example/soup.png", mime: "image/png", path: "SE", body: "\x89PNG soup"},
		}, {
			{url: "http://a.example/raven", mime: "text/html", path: "S", revisit: true, days: 1},
			{url: "http://a.example/soup", mime: "text/html", path: "SL", revisit: true, days: 1},
		},
	} {
		segmentOfBirds(t, store, fmt.Sprintf("a.example-%d", day+1), list, seen)
	}
	return dir
}

func segmentOfBirds(t *testing.T, store archive.Store, batch string, list []bird, seen map[string]crawl.Visit) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: batch, Nonce: "0123456789abcdef", Worker: "w"}, at.AddDate(0, 0, 9), func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, b := range list {
		status := 200
		if b.revisit {
			status = 304
		}
		head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\n\r\n", status, b.mime)
		c := archive.Capture{
			Exchange: crawl.Exchange{
				Kind: crawl.ExchangePage, URL: b.url, Started: at.AddDate(0, 0, b.days), Status: status, HeaderBytes: int64(len(head)), MIME: b.mime, IP: "192.0.2.1", Path: b.path,
				Outcome: crawl.Outcome{URL: b.url, Kind: crawl.OutcomeDone, Status: status},
			},
			Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + b.body), Header: of(head), Body: of(b.body),
		}
		if b.revisit {
			c.Outcome.Kind, c.Outcome.Visit = crawl.OutcomeUnmodified, seen[b.url]
		} else if b.mime == "text/html" {
			d := page.Parse(page.Input{URL: b.url, MIME: b.mime, Body: []byte(b.body)}, page.DefaultLimits())
			c.Page = &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page}, Verdict: crawl.Verdict{Score: 0.5, Links: make([]crawl.LinkVerdict, len(d.Links))}}
		}
		rec, err := s.Add(c)
		if err != nil {
			t.Fatal(err)
		}
		if !b.revisit {
			seen[b.url] = rec.Visit
		}
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
}

// captured are the responses and revisits of the WARC files of a folder, in order. The checker of archives must find no fault: a revisit that dangles is one.
func captured(t *testing.T, dir string) (list []string) {
	t.Helper()
	if report, err := archivecheck.CheckExport(os.DirFS(dir)); err != nil || len(report.Faults) > 0 {
		t.Errorf("%v, %v", report.Faults, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = archivecheck.ReadRecords(f, func(r archivecheck.Record) error {
			if kind := r.Headers.Get("WARC-Type"); kind == "response" || kind == "revisit" {
				list = append(list, kind+" "+r.Headers.Get("WARC-Target-URI"))
			}
			return nil
		})
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return list
}

// TestExportQuery: an export by a query has exactly the pages that match and what they need; of a query that matches the revisit alone, the original and what that needs, too.
func TestExportQuery(t *testing.T) {
	dir := birds(t)
	robots, picture, response, revisit := "response http://a.example/robots.txt", "response http://a.example/raven.png", "response http://a.example/raven", "revisit http://a.example/raven"
	for text, want := range map[string][]string{
		"raven":                 {response, picture, robots, revisit},
		"raven date:2026-01-03": {response, picture, robots, revisit}, // what the page needs, of its time
		"raven date:2026-01-02": {response, picture, robots},
	} {
		to := t.TempDir()
		code, printed, said := call(t, "export", dir, "c", "--to", to, "--query", text, "--check")
		if code != cli.ExitOK {
			t.Fatalf("%s: %d: %s%s", text, code, printed, said)
		}
		slices.Sort(want)
		if got := captured(t, to); !slices.Equal(got, want) {
			t.Errorf("%s: exported:\n%s\nwant:\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if code, printed, _ := call(t, "export", dir, "c", "--to", to, "--query", text); code != cli.ExitOK || !strings.Contains(printed, "there already") {
			t.Errorf("again: %d: %s", code, printed)
		}
	}
}

// TestExportSelection: an export by a selection has what it keeps, of its crawls; what is open is dropped, and the command says so. The CSV says who
// or which rule decided, and why.
func TestExportSelection(t *testing.T) {
	dir := birds(t)
	t.Setenv("MUNINN_WHO", "ann")
	for _, args := range [][]string{
		{"create", dir, "s", "--crawl", "c"}, {"rule", dir, "s", "keep", "date:2026-01-02 soup", "--why", "soups"}, {"decide", dir, "s", "drop", "http://a.example/raven", "--why", "no birds"},
	} {
		if code, _, said := call(t, append([]string{"select"}, args...)...); code != cli.ExitOK {
			t.Fatal(said)
		}
	}
	to := t.TempDir()
	code, printed, said := call(t, "export", dir, "--to", to, "--selection", "s", "--check")
	if code != cli.ExitOK || !strings.Contains(said, "1 captures of pages kept, 2 dropped; 1 are open (ask) and count as dropped") {
		t.Fatalf("%d: %s%s", code, printed, said)
	}
	want := []string{"response http://a.example/robots.txt", "response http://a.example/soup", "response http://a.example/soup.png"}
	if got := captured(t, to); !slices.Equal(got, want) {
		t.Errorf("exported:\n%s", strings.Join(got, "\n"))
	}
	if found, _ := filepath.Glob(filepath.Join(to, "s-*.manifest.json")); len(found) != 1 {
		t.Error("the files have not the name of the selection")
	}
	if code, printed, said := call(t, "export", dir, "c", "--to", to, "--selection", "s", "--format", "csv"); code != cli.ExitOK {
		t.Fatalf("%d: %s%s", code, printed, said)
	}
	tables, _ := filepath.Glob(filepath.Join(to, "*.decisions.csv"))
	if len(tables) != 1 {
		t.Fatal(tables)
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, tables[0]))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{
		{"http://a.example/soup", "2026-01-02T03:04:05Z", "keep", "rule 2 of ann: keep date:2026-01-02 soup", "soups", "c"},
		{"http://a.example/soup", "2026-01-03T03:04:05Z", "drop", "nobody", "it is open, and counts as dropped", "c"},
		{"http://a.example/raven", "2026-01-03T03:04:05Z", "drop", "ann", "no birds", "c"},
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("there is no %q in %q", want, rows)
		}
	}
}

// TestExportChosenWrong: what is wrong with a query or a selection is named.
func TestExportChosenWrong(t *testing.T) {
	dir, to := birds(t), t.TempDir()
	t.Setenv("MUNINN_WHO", "ann")
	if code, _, said := call(t, "select", "create", dir, "s", "--crawl", "other"); code != cli.ExitOK {
		t.Fatal(said)
	}
	base := []string{"export", dir, "c", "--to", to}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--query", "raven date:x"}, cli.ExitUsage, "query, character 12:"},
		{[]string{"--query", ""}, cli.ExitUsage, "--query is empty"},
		{[]string{"--selection", " "}, cli.ExitUsage, "--selection is empty"},
		{[]string{"--selection", "a/b"}, cli.ExitUsage, "no selection can have that name"},
		{[]string{"--selection", "none"}, cli.ExitFailed, "muninn select create"},
		{[]string{"--selection", "s"}, cli.ExitUsage, "the selection s does not speak of the crawl c: it is of other"},
		{[]string{"--selection", "s", "--query", "x"}, cli.ExitUsage, "--query and --selection: use one of them"},
		{[]string{"--query", "heron"}, cli.ExitFailed, "query heron keeps no capture"},
		{[]string{"--query", "raven", "--on-workers", "--check"}, cli.ExitUsage, "--on-workers: --check"},
	} {
		code, _, said := call(t, append(slices.Clone(base), c.args...)...)
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit code %d: %s, want %d and %q", c.args, code, said, c.code, c.says)
		}
	}
}

// TestExportQueryOnWorkers: the command plans, and what it has planned is the whole export: workers need no query.
func TestExportQueryOnWorkers(t *testing.T) {
	dir, to := birds(t), t.TempDir()
	code, printed, said := call(t, "export", dir, "c", "--to", to, "--query", "raven date:2026-01-02", "--on-workers")
	if code != cli.ExitFailed || !strings.Contains(said, "127.0.0.1:9") { // there is no Temporal service
		t.Fatalf("%d: %s%s", code, printed, said)
	}
	outlines, _ := filepath.Glob(filepath.Join(to, "c-*.outline.json"))
	if len(outlines) != 1 {
		t.Fatalf("%q", outlines)
	}
	from, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := archive.OpenDir(to)
	if err != nil {
		t.Fatal(err)
	}
	outline, err := export.ReadOutline(t.Context(), store, filepath.Base(outlines[0]))
	if err != nil || !strings.HasPrefix(outline.Chosen, "query raven date:2026-01-02 ") {
		t.Fatalf("%+v, %v", outline, err)
	}
	for _, p := range outline.Parts {
		if _, err := export.WritePart(t.Context(), from, store, p.Plan); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := export.Finish(t.Context(), store, filepath.Base(outlines[0])); err != nil {
		t.Fatal(err)
	}
	want := []string{"response http://a.example/raven", "response http://a.example/raven.png", "response http://a.example/robots.txt"}
	if got := captured(t, to); !slices.Equal(got, want) {
		t.Errorf("exported:\n%s", strings.Join(got, "\n"))
	}
}

package starter

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// smallArchive has one segment, of crawl c below a prefix: a page, and a URL that failed.
func smallArchive(t *testing.T) (dir string, m archive.Manifest) {
	t.Helper()
	dir = t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	label := archive.Label{Crawl: "c", Batch: "a.example-1", Nonce: "0123456789abcdef", Worker: "w", Prefix: "some/prefix", Software: "Muninn test"}
	s, err := archive.NewSegment(t.TempDir(), label, at, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "<p>a page"
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	page := crawl.Exchange{
		Kind: crawl.ExchangePage, URL: "http://a.example/", Started: at, Elapsed: time.Second, Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html",
		IP: "192.0.2.1", Path: "S", Outcome: crawl.Outcome{URL: "http://a.example/", Kind: crawl.OutcomeDone, Status: 200},
	}
	gone := crawl.Exchange{
		Kind: crawl.ExchangePage, URL: "http://a.example/gone", Via: page.URL, Path: "SL", Started: at,
		Outcome: crawl.Outcome{URL: "http://a.example/gone", Kind: crawl.OutcomeFailed, Reason: "connection reset"},
	}
	_, err = s.Add(archive.Capture{
		Exchange: page, Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
	})
	for attempt, x := range []crawl.Exchange{page, gone} {
		if err == nil {
			line := archive.LoggedExchange(&x, attempt+1)
			if attempt == 0 {
				line.Undecoded = "the br stream is cut off"
			}
			err = s.Log(line)
		}
	}
	if err == nil {
		m, err = s.Commit(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// said runs a command and returns its output and its error.
func said(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	g := &globals{Output: cli.Output{Out: &out}}
	cmd := verifyCommand(g)
	if args[0] == "log" {
		cmd = logCommand(g)
	}
	cmd.Flags().BoolVar(&g.JSON, "json", false, "")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args[1:])
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestVerify(t *testing.T) {
	dir, m := smallArchive(t)
	orphan := filepath.Join(dir, "some/prefix/c/data/a.example-1-0123456789abcdef-0000000000000000.warc.gz")
	if err := os.WriteFile(orphan, []byte("cut off"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * sweepAge)
	if err := os.Chtimes(orphan, old, old); err != nil {
		t.Fatal(err)
	}
	for _, sweep := range []bool{false, true} {
		args := []string{"verify", dir, "--json"}
		if sweep {
			args = append(args, "--sweep")
		}
		text, err := said(t, args...)
		var v verified
		if err != nil || json.Unmarshal([]byte(text), &v) != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if v.Segments != 1 || v.Responses != 1 || v.Logged != 2 || len(v.Faults) != 0 || len(v.Unnamed) != 1 || v.Swept != sweep || v.Deleted != map[bool]int{true: 1}[sweep] {
			t.Errorf("%+v", v)
		}
	}
	if text, err := said(t, "verify", dir); err != nil || !strings.Contains(text, "no faults") || strings.Contains(text, "no manifest names") {
		t.Errorf("after the sweep: %v\n%s", err, text)
	}
	raw, err := os.ReadFile(filepath.Join(dir, m.WARC.Key))
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, m.WARC.Key), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := said(t, "verify", dir); err == nil || !strings.Contains(text, "sha256") {
		t.Errorf("a flipped bit: %v\n%s", err, text)
	}
	for _, wrong := range [][]string{{"verify"}, {"verify", filepath.Join(dir, "none")}, {"verify", t.TempDir()}, {"verify", dir, "--sweep", "--older", "1m"}} {
		if text, err := said(t, wrong...); err == nil {
			t.Errorf("%q says %s", wrong, text)
		}
	}
}

func TestLog(t *testing.T) {
	dir, _ := smallArchive(t)
	text, err := said(t, "log", dir)
	want := "2026-01-02T03:04:05Z done       200 S http://a.example/  the br stream is cut off\n" +
		"2026-01-02T03:04:05Z failed       - SL http://a.example/gone  connection reset; attempt 2; found on http://a.example/\n"
	if err != nil || text != want {
		t.Errorf("%v, %q", err, text)
	}
	text, err = said(t, "log", dir, "--failed", "--json")
	want = `{"time":"2026-01-02T03:04:05Z","url":"http://a.example/gone","kind":"failed","reason":"connection reset","via":"http://a.example/","path":"SL","attempt":2}` + "\n"
	if err != nil || text != want {
		t.Errorf("%v, %q", err, text)
	}
	if _, err := said(t, "log", t.TempDir()); err == nil || !strings.Contains(err.Error(), "no crawl") {
		t.Errorf("an empty folder: %v", err)
	}
}

// A pipe or a device in the place of a file is a fault. It is not read, because it may never end.
func TestVerifyReadsFilesAlone(t *testing.T) {
	dir, m := smallArchive(t)
	in := func(key string) string { return filepath.Join(dir, filepath.FromSlash(key)) }
	old := time.Now().Add(-2 * sweepAge)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Rename(in(m.Links.Key), in(m.Links.Key)+".moved"))
	must(os.Symlink(in(m.Links.Key)+".moved", in(m.Links.Key))) // as good as a file
	must(os.Remove(in(m.WARC.Key)))
	must(os.Symlink("/dev/zero", in(m.WARC.Key)))
	must(os.Remove(in(m.CDXJ.Key)))
	must(syscall.Mkfifo(in(m.CDXJ.Key), 0o600))
	must(syscall.Mkfifo(in("some/prefix/c/segments/b.example-1-0123456789abcdef.json"), 0o600))
	orphan := in("some/prefix/c/data/b.example-1-0123456789abcdef-0000000000000000.cdxj")
	must(syscall.Mkfifo(orphan, 0o600))
	must(os.Chtimes(orphan, old, old))
	text, err := said(t, "verify", dir)
	for _, want := range []string{m.WARC.Key + " is not a regular file", m.CDXJ.Key + " is not a regular file", "b.example-1-0123456789abcdef.json at 0: the manifest is not a regular file", "3 faults"} {
		if err == nil || !strings.Contains(text, want) && !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v\n%s", want, err, text)
		}
	}
	if strings.Contains(text, m.Links.Key+" ") {
		t.Errorf("a link to a file is a fault: %s", text)
	}
	if _, err := said(t, "verify", dir, "--sweep"); err == nil || !strings.Contains(err.Error(), "sweep some/prefix/c") {
		t.Errorf("it sweeps by a manifest that cannot be read: %v", err)
	}
	if _, err := os.Lstat(orphan); err != nil {
		t.Error(err)
	}
	if _, err := said(t, "log", dir); err == nil || !strings.Contains(err.Error(), archive.ErrNotRegular.Error()) {
		t.Errorf("log: %v", err)
	}
}

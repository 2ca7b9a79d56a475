package starter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
)

// pageSegment archives a page in a segment of its own.
func pageSegment(t *testing.T, store archive.Store, crawlName, batch, url, body string) archive.Manifest {
	t.Helper()
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: crawlName, Batch: batch, Nonce: "0123456789abcdef", Worker: "w"}, time.Now(), func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	_, err = s.Add(archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: url, Started: time.Now(), Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html", IP: "192.0.2.1", Path: "S",
			Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200},
		},
		Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDerive: an archive is derived on this machine: once, crawl by crawl if one is named, and beside what is damaged.
func TestDerive(t *testing.T) {
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var last archive.Manifest
	for i := range 5 {
		last = pageSegment(t, store, "ravens", fmt.Sprint("b", i), fmt.Sprintf("http://a.example/%d", i), fmt.Sprintf("<title>Page %d</title><p>text", i))
	}
	pageSegment(t, store, "crows", "b", "http://b.example/", "<p>crows")
	if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(last.WARC.Key)), 50); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (d derivation, err error) {
		var out, said bytes.Buffer
		g := &globals{Output: cli.Output{Out: &out, JSON: true}}
		cmd := deriveCommand(g)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetErr(&said)
		cmd.SetArgs(args)
		err = cmd.ExecuteContext(t.Context())
		if out.Len() > 0 {
			if err := json.Unmarshal(out.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
		}
		return d, err
	}
	d, err := run(dir, "ravens", "--step", "text")
	if err == nil || d.Segments != 4 || d.Captures != 4 || d.Lines != 4 || d.Crawls != 1 || len(d.Damaged) != 1 || !strings.Contains(d.Damaged[0], last.WARC.Key) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = run(dir); err == nil || d.Segments != 1 || d.Crawls != 2 || len(d.Damaged) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = run(dir, "crows"); err != nil || d.Segments != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	var text bytes.Buffer
	(&derivation{Archive: "a", Crawls: 1, Segments: 2, Failed: 1, Damaged: []string{"x"}}).write(&text)
	if !strings.Contains(text.String(), "derived 2 segments of 1 crawl") || !strings.Contains(text.String(), "damaged: x") {
		t.Error(text.String())
	}
	var titles []string
	err = derive.Segments(t.Context(), store, archive.CrawlAt{Name: "ravens"}, derive.Text, func(segment string) error {
		return derive.Read(t.Context(), store, archive.CrawlAt{Name: "ravens"}, derive.Text, segment, func(d *derive.Document) error {
			titles = append(titles, d.Title)
			return nil
		})
	})
	if err != nil || strings.Join(titles, ", ") != "Page 0, Page 1, Page 2, Page 3" {
		t.Errorf("%q, %v", titles, err)
	}
	for _, wrong := range [][]string{{}, {dir, "a", "b"}, {dir, "none"}, {dir, "a b"}, {filepath.Join(dir, "none")}, {dir, "--step", "none"}, {dir, "--follow"}} {
		if d, err := run(wrong...); err == nil {
			t.Errorf("%q says %+v", wrong, d)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("an archive was made that is not there")
	}
}

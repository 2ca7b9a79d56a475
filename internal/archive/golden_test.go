package archive_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/scripttest"
	"github.com/muninn-archive/muninn/kb"
)

// TestBytesOfPages compares byte for byte what is written for a parsed, recognised and judged page: its lines in the sidecars and in
// the index, and its metadata record.
func TestBytesOfPages(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join("testdata", "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	read := reader(t, []string{"raven", "crow"})
	blog := read("https://blog.example/2026/03/ravens/", "text/html; charset=utf-8", body)
	text := read("https://blog.example/notes.txt", "text/plain", []byte("a raven\n\nsome soup"))
	moved := capture("https://blog.example/old", "HTTP/1.1 301 Moved Permanently\nLocation: /2026/03/ravens/\nContent-Length: 0\n", "")
	to, ok := page.Redirect(moved.URL, moved.Status, "/2026/03/ravens/")
	if !ok {
		t.Fatal("the redirect leads nowhere")
	}
	moved.Page = unjudged(to)

	dir, store := newDir(t)
	s, _ := segment(t, "b-1", unknown, blog.capture(t), text.capture(t), moved)
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, key := range []string{m.Links.Key, m.Objects.Key} {
		fmt.Fprintf(&out, "%s\n%s\n", strings.SplitN(filepath.Base(key), ".", 2)[1], unpacked(t, filepath.Join(dir, key)))
	}
	err = archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
		_, err := fmt.Fprintf(&out, "index %s: score %v, application %q\n", i.URL, i.Score, i.Application)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for record := range strings.SplitSeq(string(unpacked(t, filepath.Join(dir, m.WARC.Key))), "WARC/1.1\r\n") {
		if head, block, ok := strings.Cut(record, "\r\n\r\n"); ok && strings.Contains(head, "WARC-Type: metadata\r\n") {
			fmt.Fprintf(&out, "\nmetadata\n%s\n", strings.TrimSpace(strings.ReplaceAll(block, "\r\n", "\n")))
		}
	}
	got := rules.ReplaceAllString(strings.ReplaceAll(out.String(), base.ID, "BASE"), "$1:LINE")
	scripttest.Golden(t, filepath.Join("testdata", "page.golden"), got)
}

// rules are positions of rules in the knowledge base.
var rules = regexp.MustCompile(`([a-z]+[.]xml):[0-9]+`)

// unpacked is a file of an archive without its compression.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader
	if strings.HasSuffix(name, ".zst") {
		r, err = zstd.NewReader(bytes.NewReader(raw))
	} else {
		r, err = gzip.NewReader(bytes.NewReader(raw))
	}
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return raw
}

// unjudged is a page that was not judged.
func unjudged(p crawl.Page) *crawl.Judged {
	return &crawl.Judged{Parsed: crawl.Parsed{Page: p}, Verdict: crawl.Verdict{Score: -1, Links: make([]crawl.LinkVerdict, len(p.Links))}}
}

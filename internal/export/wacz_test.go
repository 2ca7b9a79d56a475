package export_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/export"
)

// TestWACZ: the file is a ZIP without compression whose description has the size and SHA-256 of each file, whose index finds each record, and whose list of pages
// has titles and texts of pages alone.
func TestWACZ(t *testing.T) {
	from, dir := openDir(t, t.TempDir()), t.TempDir()
	world(t, from)
	o := order("c")
	o.Format = export.WACZ
	run(t, from, openDir(t, dir), o)
	found, _ := filepath.Glob(filepath.Join(dir, "*.wacz"))
	z, err := zip.OpenReader(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	inside := map[string][]byte{}
	for _, f := range z.File {
		if f.Method != zip.Store {
			t.Errorf("%s is compressed", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if inside[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	warc := described(t, inside)
	checkIndex(t, inside, warc)
	checkPages(t, inside["pages/pages.jsonl"])
}

// described checks datapackage.json and its digest, and returns the WARC file.
func described(t *testing.T, inside map[string][]byte) (warc []byte) {
	t.Helper()
	var d struct {
		Version   string `json:"wacz_version"`
		Profile   string `json:"profile"`
		Resources []struct {
			Path, Hash string
			Bytes      int
		} `json:"resources"`
	}
	if err := json.Unmarshal(inside["datapackage.json"], &d); err != nil || d.Version != "1.1.1" || d.Profile != "data-package" {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, r := range d.Resources {
		if data, is := inside[r.Path]; !is || len(data) != r.Bytes || r.Hash != "sha256:"+sum(data) {
			t.Errorf("%s: %d bytes with %s are described as %d with %s", r.Path, len(data), sum(data), r.Bytes, r.Hash)
		}
		if strings.HasPrefix(r.Path, "archive/") {
			warc = inside[r.Path]
		}
	}
	var digest struct{ Path, Hash string }
	if err := json.Unmarshal(inside["datapackage-digest.json"], &digest); err != nil || digest.Path != "datapackage.json" || digest.Hash != "sha256:"+sum(inside["datapackage.json"]) {
		t.Errorf("%+v, %v", digest, err)
	}
	if len(d.Resources) != len(inside)-2 {
		t.Errorf("%d of %d files are described", len(d.Resources), len(inside))
	}
	return warc
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// checkIndex finds each capture by both levels of the index.
func checkIndex(t *testing.T, inside map[string][]byte, warc []byte) {
	t.Helper()
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(string(inside["indexes/index.idx"]), "\n"), "\n") {
		if i == 0 {
			if line != `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` {
				t.Errorf("%s", line)
			}
			continue
		}
		var at struct {
			Offset, Length int
			Digest         string
		}
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &at); err != nil {
			t.Fatal(err)
		}
		block := inside["indexes/index.cdx.gz"][at.Offset : at.Offset+at.Length]
		r, err := gzip.NewReader(bytes.NewReader(block))
		if err != nil || at.Digest != "sha256:"+sum(block) {
			t.Fatalf("%s: %v", line, err)
		}
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(text), line[:strings.IndexByte(line, '{')]) {
			t.Errorf("%s, %v", text, err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	if !slices.IsSorted(lines) || len(lines) != 14 {
		t.Errorf("%d lines: %s", len(lines), strings.Join(lines, "\n"))
	}
	for _, line := range lines {
		var f map[string]string
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &f); err != nil {
			t.Fatal(err)
		}
		offset, _ := strconv.Atoi(f["offset"])
		length, _ := strconv.Atoi(f["length"])
		err := archivecheck.ReadRecords(bytes.NewReader(warc[offset:offset+length]), func(r archivecheck.Record) error {
			if r.Headers.Get("WARC-Target-URI") != f["url"] {
				return fmt.Errorf("there is a record of %s", r.Headers.Get("WARC-Target-URI"))
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func checkPages(t *testing.T, list []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
	if !strings.HasPrefix(lines[0], `{"format":"json-pages-1.0","id":"pages"`) {
		t.Error(lines[0])
	}
	got := map[string]string{}
	for _, line := range lines[1:] {
		var p struct{ ID, URL, TS, Title, Text string }
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.ID == "" || p.TS == "" {
			t.Fatalf("%s: %v", line, err)
		}
		got[p.URL] = p.Title + "|" + p.Text
	}
	want := map[string]string{
		"http://a.example/page": "A page|as shown", "http://a.example/other": "Another one|not kept", "http://a.example/new": "New|new", "http://a.example/copy": "A copy|",
		"http://b.example/unneeded": "|b",
	}
	for url, text := range want {
		if got[url] != text {
			t.Errorf("%s: %q, want %q", url, got[url], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}

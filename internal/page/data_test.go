package page

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
)

func testData(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("MUNINN_TESTDATA")
	if dir == "" {
		t.Skip("MUNINN_TESTDATA is not set: the folder of real pages is not known")
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// TestRealPages: saved pages of the web give title, text and links in bounded time.
func TestRealPages(t *testing.T) {
	dir := testData(t, "aah")
	pages, bare, slowest := 0, 0, time.Duration(0)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		start := cputime.Used()
		d := Parse(Input{URL: "http://a.test/dir/page", MIME: "text/html", Body: raw}, DefaultLimits())
		slowest = max(slowest, cputime.Used()-start)
		pages++
		if len(d.Links) == 0 || len(d.Blocks) == 0 || d.Title == "" {
			bare++
		}
		for _, l := range d.Links {
			if l.Block < -1 || l.Block >= len(d.Blocks) {
				t.Errorf("%s: block %d of %d", path, l.Block, len(d.Blocks))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d without title, text or links, slowest %s", pages, bare, slowest)
	if pages == 0 || bare*20 > pages || slowest > 5*time.Second {
		t.Errorf("%d pages, %d bare, slowest %s", pages, bare, slowest)
	}
}

// TestRealSitemaps: sitemaps of all kinds, also broken ones, are read as far as possible.
func TestRealSitemaps(t *testing.T) {
	dir := testData(t, "conformance", "crawler-commons")
	files, found := 0, 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "sitemap") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if z, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
			raw, _ = io.ReadAll(z)
		}
		for _, mime := range []string{"application/xml", "", "text/html"} {
			d := Parse(Input{URL: "http://www.example.com/sitemap.xml", MIME: mime, Body: raw}, DefaultLimits())
			if mime == "application/xml" {
				files++
				found += btoi(len(d.Links) > 0)
				if len(d.Links) == 0 {
					t.Logf("no link in %s", filepath.Base(path))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d files have links", found, files)
	if found == 0 {
		t.Error("no sitemap gave a link")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ordinary is a page of about 30 KB with 56 links.
func ordinary() []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Ravens</title><link rel="stylesheet" href="/s.css"></head><body class="page"><div class="main">`)
	for i := range 55 {
		fmt.Fprintf(&b, `<div class="item"><h3>Entry %d</h3><p class="text">%s<a href="/year/%d/entry-%d.html?from=list" class="more">read about raven %d</a> and on.</p></div>`,
			i, strings.Repeat("The raven flew over the hills and the sea. ", 9), 2000+i%20, i, i)
		b.WriteByte('\n')
	}
	b.WriteString("</div></body></html>")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	in := Input{URL: "http://a.test/list", MIME: "text/html; charset=utf-8", Body: ordinary()}
	b.ReportAllocs()
	b.SetBytes(int64(len(in.Body)))
	for b.Loop() {
		if d := Parse(in, DefaultLimits()); len(d.Links) != 56 {
			b.Fatalf("%d links", len(d.Links))
		}
	}
}

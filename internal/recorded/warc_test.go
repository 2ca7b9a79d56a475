package recorded

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/fixture"
)

// warcRecord writes a record by hand.
func warcRecord(kind, target, contentType, block string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:92283950-ef2f-4d72-b224-%012d>\r\nWARC-Date: 2026-03-04T05:06:07Z\r\n"+
		"WARC-Target-URI: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, len(target)+len(block), target, contentType, len(block), block)
}

// response is the record of an answer, whose header has these lines.
func response(url, header, body string) string {
	return warcRecord("response", url, "application/http; msgtype=response", "HTTP/1.1 "+strings.ReplaceAll(header, "\n", "\r\n")+"\r\n\r\n"+body)
}

func htmlPage(url, body string) string {
	return response(url, fmt.Sprintf("200 OK\nContent-Type: text/html; charset=utf-8\nContent-Length: %d", len(body)), body)
}

// warcFile joins records, each compressed by itself if asked for, and reports where each begins.
func warcFile(t testing.TB, compressed bool, records ...string) (raw string, offsets []int) {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		offsets = append(offsets, b.Len())
		if compressed {
			r = fixture.Gzip(r)
		}
		b.WriteString(r)
	}
	return b.String(), offsets
}

// deflated is what servers call deflate: the zlib format (RFC 9110 §8.4.1.2).
func deflated(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// chunked parts a body into chunks of so many bytes.
func chunked(body string, size int) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(body), size) {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
	}
	return b.String() + "0\r\n\r\n"
}

const welcome = "<title>Welcome</title><p>to the <a href=\"/next\">next</a>"

// noise is text that does not compress well.
func noise() string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "<p>%x", i*i*2654435761)
	}
	return b.String()
}

// everyKind are records of every kind that crawlers write.
func everyKind(t testing.TB) []string {
	zip, long := fixture.Gzip(welcome), fixture.Gzip(noise())
	return []string{
		warcRecord("warcinfo", "http://a.test/", "application/warc-fields", "software: other\r\n"),
		warcRecord("request", "http://a.test/request", "application/http; msgtype=request", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"),
		htmlPage("http://a.test/", welcome),
		warcRecord("metadata", "http://a.test/metadata", "application/warc-fields", "via: http://a.test/\r\n"),
		warcRecord("resource", "http://a.test/resource", "text/html", welcome),
		response("http://a.test/chunked", "200 OK\nContent-Type: text/html\nContent-Encoding: gzip\nTransfer-Encoding: chunked", chunked(zip, 7)),
		response("http://a.test/gzip", fmt.Sprintf("200 OK\nContent-Type: text/html\nContent-Encoding: GZIP\nContent-Length: %d", len(zip)), zip),
		response("http://a.test/old", "301 Moved Permanently\nContent-Type: text/html\nLocation: /new?a=1\nContent-Length: 0", ""),
		warcRecord("revisit", "http://a.test/revisit", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
		response("http://a.test/robots.txt", "200 OK\nContent-Type: text/plain", "User-agent: *\nDisallow:\n"),
		warcRecord("response", "dns:a.test", "text/dns", "20260304050607\na.test.\t300\tIN\tA\t192.0.2.7\n"),
		warcRecord("response", "http://a.test/odd", "application/octet-stream", "no HTTP at all"),
		warcRecord("response", "ftp://a.test/file", "application/octet-stream", "no HTTP either"),
		htmlPage("HTTP://A.test:80/#top", "<p>again"),
		htmlPage("http://a.test/chunked", "<p>again"),
		response("http://a.test/cut", fmt.Sprintf("200 OK\nContent-Type: text/html\nContent-Encoding: gzip\nContent-Length: %d", len(long)), long[:len(long)/2]),
		response("http://a.test/cut-chunks", "200 OK\nContent-Type: text/html\nTransfer-Encoding: chunked", chunked(welcome+welcome, len(welcome))[:len(welcome)+8]),
		response("http://a.test/short", "200 OK\nContent-Type: text/html\nContent-Length: 1000", "<p>only so much"),
		response("http://a.test/no-gzip", "200 OK\nContent-Type: text/html\nContent-Encoding: gzip", "<p>not compressed"),
		response("http://a.test/brotli", "200 OK\nContent-Type: text/html\nContent-Encoding: br", "\x0b\x02\x80"),
		response("http://a.test/missing", "404 Not Found\nContent-Type: text/html", "<p>no"),
		response("http://a.test/picture", "200 OK\nContent-Type: image/png", "\x89PNG\r\n\x1a\n"),
		response("http://a.test/feed", "200 OK\nContent-Type: application/rss+xml", "<rss/>"),
		response("http://a.test/untold", "200 OK\nServer: old", welcome),
		htmlPage("https://b.test:8443/", "<p>other"),
		htmlPage("<http://a.test/bracketed>", "<p>as GNU wget writes it"),
		response("http://a.test/large", "200 OK\nContent-Type: text/html", strings.Repeat("x", maxBody+1)),
	}
}

// TestWARC: from a file of any crawler, the first response of each URL is read; a broken response is read up to the
// fault.
func TestWARC(t *testing.T) {
	want := []struct {
		url, mime, location, body string
		status                    int
	}{
		{"http://a.test/", "text/html", "", welcome, 200},
		{"http://a.test/chunked", "text/html", "", welcome, 200},
		{"http://a.test/gzip", "text/html", "", welcome, 200},
		{"http://a.test/old", "text/html", "/new?a=1", "", 301},
		{"http://a.test/cut", "text/html", "", "…", 200},
		{"http://a.test/cut-chunks", "text/html", "", welcome, 200},
		{"http://a.test/short", "text/html", "", "<p>only so much", 200},
		{"http://a.test/no-gzip", "text/html", "", "", 200},
		{"http://a.test/brotli", "text/html", "", "", 200},
		{"http://a.test/missing", "text/html", "", "<p>no", 404},
		{"http://a.test/picture", "image/png", "", "", 200},
		{"http://a.test/feed", "application/rss+xml", "", "<rss/>", 200},
		{"http://a.test/untold", "", "", welcome, 200},
		{"https://b.test:8443/", "text/html", "", "<p>other", 200},
		{"http://a.test/bracketed", "text/html", "", "<p>as GNU wget writes it", 200},
		{"http://a.test/large", "text/html", "", strings.Repeat("x", maxBody), 200},
	}
	for _, name := range []string{"x.warc", "x.warc.gz"} {
		dir := t.TempDir()
		raw, _ := warcFile(t, strings.HasSuffix(name, ".gz"), everyKind(t)...)
		w := open(t, fixture.Write(t, dir, name, raw))
		if w.Name != name || w.Edges != nil || len(w.Seeds) != 0 || len(w.Topics) != 0 {
			t.Errorf("%s: %s, seeds %v, topics %q, %d edges", name, w.Name, w.Seeds, w.Topics, len(w.Edges))
		}
		if len(w.Pages) != len(want) {
			t.Errorf("%s: %d pages, want %d", name, len(w.Pages), len(want))
		}
		for i, p := range w.Pages[:min(len(w.Pages), len(want))] {
			x := want[i]
			if at, known := w.At(p.URL); !known || at != i {
				t.Errorf("%s: page %d is found as %d, %v", name, i, at, known)
			}
			if p.URL != x.url || p.MIME != x.mime || p.Location != x.location || p.Status != x.status || p.Label != "" {
				t.Errorf("%s: %s %d %q %q %q, want %+v", name, p.URL, p.Status, p.MIME, p.Location, p.Label, x.url)
			}
			if group := strings.Split(x.url, "/")[2]; p.Group != group {
				t.Errorf("%s: %s is of %q", name, p.URL, p.Group)
			}
			if x.body == "…" {
				if all := noise(); len(p.Body) < len(all)/10 || len(p.Body) >= len(all) || !strings.HasPrefix(all, string(p.Body)) {
					t.Errorf("%s: of %d bytes that break off %d are read", p.URL, len(all), len(p.Body))
				}
			} else if string(p.Body) != x.body {
				t.Errorf("%s: %s: %.60q, want %.60q", name, p.URL, p.Body, x.body)
			}
		}
		// the fingerprints of applications are in the header
		head := string(w.page(t, "http://a.test/untold").Head)
		if head != "HTTP/1.1 200 OK\r\nServer: old\r\n\r\n" {
			t.Errorf("%s: the header is %q", name, head)
		}
	}
}

func TestDeflate(t *testing.T) {
	z := deflated(t, welcome)
	raw, _ := warcFile(t, true, response("http://a.test/", fmt.Sprintf("200 OK\nContent-Type: text/html\nContent-Encoding: deflate\nContent-Length: %d", len(z)), z))
	if p := open(t, fixture.Write(t, t.TempDir(), "1.warc.gz", raw)).Pages[0]; string(p.Body) != welcome {
		t.Errorf("%q", p.Body)
	}
}

// TestEndlessLines: the error names a file with an endless line.
func TestEndlessLines(t *testing.T) {
	dir := t.TempDir()
	raw, _ := warcFile(t, true, htmlPage("http://a.test/", welcome))
	file := fixture.Write(t, dir, "1.warc.gz", raw)
	refused(t, fixture.Write(t, dir, "index.cdxj", cdxjLine("http://a.test/", "1.warc.gz", 0)+strings.Repeat("x", 2<<20)), "index.cdxj")
	fixture.Write(t, dir, "labels.tsv", strings.Repeat("x", 2<<20)+"\tbird\n")
	refused(t, file, "labels.tsv")
}

// TestWARCFolder: the files of a folder and its subfolders are read in the order of their names, so that the same folder
// gives the same web.
func TestWARCFolder(t *testing.T) {
	dir := t.TempDir()
	first, _ := warcFile(t, true, htmlPage("http://a.test/", "<p>first"), htmlPage("http://a.test/1", "<p>1"))
	second, _ := warcFile(t, false, htmlPage("http://a.test/", "<p>second"), htmlPage("http://b.test/", "<p>2"))
	fixture.Write(t, dir, "a/deep/1.warc.gz", first)
	fixture.Write(t, dir, "b/2.warc", second)
	fixture.Write(t, dir, "b/notes.txt", "of no matter")
	w := open(t, dir)
	if len(w.Pages) != 3 || string(w.page(t, "http://a.test/").Body) != "<p>first" || w.page(t, "http://b.test/").Group != "b.test" {
		t.Errorf("%+v", w.Pages)
	}
}

func TestWARCFaults(t *testing.T) {
	dir := t.TempDir()
	refused(t, fixture.Write(t, dir, "notes.txt", "WARC/1.1"), "notes.txt", ".warc.gz", ".cdxj")
	refused(t, t.TempDir(), "pages.tsv", ".warc.gz")
	none, _ := warcFile(t, true, warcRecord("warcinfo", "http://a.test/", "application/warc-fields", "software: other\r\n"))
	refused(t, fixture.Write(t, dir, "none.warc.gz", none), "none.warc.gz", "no response")
	whole, offsets := warcFile(t, true, htmlPage("http://a.test/", welcome), htmlPage("http://a.test/2", noise()))
	cut := fixture.Write(t, dir, "cut.warc.gz", whole[:offsets[1]+(len(whole)-offsets[1])/2])
	if w := open(t, cut); len(w.Pages) != 2 { // a crawler was killed: of the second page there is a part
		t.Errorf("of a file that is cut off %d pages are read", len(w.Pages))
	}
	broken := fixture.Write(t, dir, "broken.warc.gz", "\x1f\x8b not compressed at all")
	refused(t, broken, broken)
}

// cdxjLine names a capture.
func cdxjLine(url, file string, offset int) string {
	return fmt.Sprintf("test,a)/ 20260304050607 {\"url\":%q,\"mime\":\"text/html\",\"status\":\"200\",\"offset\":\"%d\",\"filename\":%q}\n", url, offset, file)
}

// TestCDXJ: only the captures that the index names are read, from WARC files in a folder beside that of the index.
func TestCDXJ(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		dir := t.TempDir()
		name := "1.warc"
		if compressed {
			name += ".gz"
		}
		raw, at := warcFile(t, compressed, htmlPage("http://a.test/", "<p>old"), htmlPage("http://a.test/", "<p>new"), htmlPage("http://a.test/no", "<p>no"),
			warcRecord("revisit", "http://a.test/again", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n\r\n"), htmlPage("http://a.test/last", welcome))
		fixture.Write(t, dir, "archive/deep/"+name, raw)
		other, _ := warcFile(t, compressed, htmlPage("http://b.test/", "<p>b"), htmlPage("http://b.test/no", "<p>no"))
		fixture.Write(t, dir, "indexes/2"+name, other)
		index := fixture.Write(t, dir, "indexes/index.cdxj", "!OpenWayback-CDXJ 1.0\n\n"+cdxjLine("http://a.test/", name, at[1])+cdxjLine("http://a.test/again", name, at[3])+
			cdxjLine("http://a.test/last", "s3://elsewhere/"+name, at[4])+cdxjLine("http://b.test/", "2"+name, 0))
		fixture.Write(t, dir, "indexes/labels.tsv", "http://a.test/\tbird\n")
		fixture.Write(t, dir, "indexes/seeds.txt", "http://b.test/\n")
		w := open(t, index)
		if len(w.Pages) != 3 || w.Name != "index.cdxj" {
			t.Fatalf("%d pages of %s", len(w.Pages), w.Name)
		}
		if p := w.page(t, "http://a.test/"); string(p.Body) != "<p>new" || p.Label != "bird" {
			t.Errorf("the capture that the index names is not the one that is read: %q %q", p.Label, p.Body)
		}
		if p := w.page(t, "http://a.test/last"); string(p.Body) != welcome {
			t.Errorf("%q", p.Body)
		}
		if len(w.Seeds) != 1 || w.Pages[w.Seeds[0]].URL != "http://b.test/" {
			t.Errorf("seeds %v", w.Seeds)
		}
	}
}

// TestCDXJByItsName: an index is read by a name without a folder too.
func TestCDXJByItsName(t *testing.T) {
	dir := t.TempDir()
	raw, at := warcFile(t, true, htmlPage("http://a.test/", welcome))
	fixture.Write(t, dir, "archive/1.warc.gz", raw)
	fixture.Write(t, dir, "indexes/index.cdxj", cdxjLine("http://a.test/", "1.warc.gz", at[0]))
	t.Chdir(filepath.Join(dir, "indexes"))
	if w := open(t, "index.cdxj"); len(w.Pages) != 1 {
		t.Errorf("%d pages", len(w.Pages))
	}
}

func TestCDXJFaults(t *testing.T) {
	raw, _ := warcFile(t, true, htmlPage("http://a.test/", welcome))
	good := cdxjLine("http://a.test/", "1.warc.gz", 0)
	for name, test := range map[string]struct {
		lines string
		words []string
	}{
		"an unknown file": {good + cdxjLine("http://a.test/", "gone.warc.gz", 0), []string{"index.cdxj:2", "gone.warc.gz"}},
		"no JSON":         {good + good + "test,a)/ 20260304050607 {\"url\":\n", []string{"index.cdxj:3"}},
		"no offset":       {strings.Replace(good, `"0"`, `"zero"`, 1), []string{"index.cdxj:1", `"zero"`}},
		"no number":       {strings.Replace(good, `"0"`, `""`, 1), []string{"index.cdxj:1"}},
		"of nothing":      {"!OpenWayback-CDXJ 1.0\n", []string{"index.cdxj", "no response"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fixture.Write(t, dir, "data/1.warc.gz", raw)
			refused(t, fixture.Write(t, dir, "data/index.cdxj", test.lines), test.words...)
		})
	}
}

// TestLabels: labels and seeds may be beside WARC files.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	var records []string
	labels := "url\tlabel\nhttp://elsewhere.test/\tbird\n"
	for i := range LeastOfTopic {
		records = append(records, htmlPage(fmt.Sprintf("http://a.test/%d", i), "<p>raven"), htmlPage(fmt.Sprintf("http://a.test/f%d", i), "<p>fish"))
		labels += fmt.Sprintf("http://A.test:80/%d\tbird\n", i)
		if i > 0 {
			labels += fmt.Sprintf("http://a.test/f%d\tfish\n", i)
		}
	}
	raw, _ := warcFile(t, true, records...)
	fixture.Write(t, dir, "1.warc.gz", raw)
	fixture.Write(t, dir, "labels.tsv", labels)
	fixture.Write(t, dir, "seeds.txt", "http://a.test/f0\nhttp://a.test/7\n")
	for _, where := range []string{dir, filepath.Join(dir, "1.warc.gz")} {
		w := open(t, where)
		if w.page(t, "http://a.test/3").Label != "bird" || w.page(t, "http://a.test/f3").Label != "fish" || w.page(t, "http://a.test/f0").Label != "" {
			t.Error("the labels are not those of the pages")
		}
		if !slices.Equal(w.Topics, []string{"bird"}) {
			t.Errorf("topics %q", w.Topics)
		}
		if len(w.Seeds) != 2 || w.Pages[w.Seeds[0]].URL != "http://a.test/f0" || w.Pages[w.Seeds[1]].URL != "http://a.test/7" {
			t.Errorf("seeds %v", w.Seeds)
		}
	}
	fixture.Write(t, dir, "labels.tsv", labels+"http://a.test/f0 fish\n")
	refused(t, dir, fmt.Sprintf("labels.tsv:%d", strings.Count(labels, "\n")+1))
	fixture.Write(t, dir, "labels.tsv", labels)
	fixture.Write(t, dir, "seeds.txt", "http://a.test/f0\nhttp://elsewhere.test/\n")
	refused(t, dir, "seeds.txt", "http://elsewhere.test/")
}

// TestOthersWARC reads files that other programs wrote.
func TestOthersWARC(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no files of others")
	}
	for name, want := range map[string]struct {
		pages int
		url   string
		bytes int
	}{
		"warcio/test/data/example.warc":                                                              {1, "http://example.com/", 1270},
		"warcio/test/data/example.warc.gz":                                                           {1, "http://example.com/", 1270},
		"warcio/test/data/example-iana.org-chunked.warc":                                             {1, "http://www.iana.org/", 7223},
		"jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz":                                      {1, "http://commoncrawl.org/", 20289},
		"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip_chunked.warc.gz": {1, "http://mek.oszk.hu/", 72442},
		"webarchive-commons/src/test/resources/org/archive/format/warc/IAH-urls-wget.warc":           {12, "http://www.archive.org/", 161},
	} {
		w, err := Open(filepath.Join(data, "conformance", "warc", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		at, known := w.At(want.url)
		if !known || len(w.Pages) != want.pages || len(w.Pages[at].Body) != want.bytes {
			t.Errorf("%s: %d pages, of which %s (%v) has %d bytes; want %+v", name, len(w.Pages), w.Pages[at].URL, known, len(w.Pages[at].Body), want)
		}
	}
}

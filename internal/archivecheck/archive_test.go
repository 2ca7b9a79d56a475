package archivecheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/fixture"
)

// testArchive describes an archive directory. Written out, it has no faults unless a case has changed it.
type testArchive struct{ segments []*testSegment }

type testSegment struct {
	crawl, batch string
	records      []*testRecord
	links        string
	bendWARC     func([]byte) []byte
	bendLines    func([]string) []string
	bendManifest func(map[string]any)
	after        func(dir string, s *testSegment) // when all is written
}

// testRecord is a record to write. Content-Length and WARC-Block-Digest are computed unless headers
// have them.
type testRecord struct {
	version string
	headers Headers
	block   string
	end     string
	next    *testRecord // a second record in the same member
	noLine  bool
}

func (r *testRecord) set(name, value string) {
	r.del(name)
	r.headers = append(r.headers, Header{name, value})
}

func (r *testRecord) del(name string) {
	r.headers = slices.DeleteFunc(r.headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

func (r *testRecord) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(r.version + "\r\n")
	for _, h := range r.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if r.headers.Get("Content-Length") == "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.block))
	}
	if r.headers.Get("WARC-Block-Digest") == "" {
		fmt.Fprintf(&b, "WARC-Block-Digest: %s\r\n", sha1Of(r.block))
	}
	b.WriteString("\r\n" + r.block + r.end)
	if r.next != nil {
		b.Write(r.next.bytes())
	}
	return b.Bytes()
}

var linksWriter, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize))

func gzipMember(data []byte) []byte { return []byte(fixture.Gzip(string(data))) }

func (s *testSegment) key(suffix string) string {
	return s.crawl + "/data/" + s.batch + "-0a1b2c" + suffix
}

func (a *testArchive) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, s := range a.segments {
		var warc []byte
		var lines []string
		for _, r := range s.records {
			m := gzipMember(r.bytes())
			if line := s.line(r, len(warc), len(m)); line != "" {
				lines = append(lines, line)
			}
			warc = append(warc, m...)
		}
		slices.Sort(lines)
		if s.bendWARC != nil {
			warc = s.bendWARC(warc)
		}
		if s.bendLines != nil {
			lines = s.bendLines(lines)
		}
		manifest := map[string]any{
			"version": 1, "crawl": s.crawl, "batch": s.batch, "worker": "w1", "created": "2026-01-02T03:04:05Z",
			"records": len(s.records), "pages": 1, "frontier": "unknown fields are ignored",
			"warc":  writeObject(t, dir, s.key(".warc.gz"), warc),
			"cdxj":  writeObject(t, dir, s.key(".cdxj"), []byte(strings.Join(append(lines, ""), "\n"))),
			"links": writeObject(t, dir, s.key(".links.zst"), linksWriter.EncodeAll([]byte(s.links), nil)),
		}
		if s.bendManifest != nil {
			s.bendManifest(manifest)
		}
		data, err := json.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		writeObject(t, dir, s.crawl+"/segments/"+s.batch+".json", data)
	}
	for _, s := range a.segments {
		if s.after != nil {
			s.after(dir, s)
		}
	}
	return dir
}

// line is the CDXJ line of a record, or "".
func (s *testSegment) line(r *testRecord, offset, length int) string {
	typ := r.headers.Get("WARC-Type")
	if typ != "response" && typ != "revisit" && typ != "resource" || r.noLine {
		return ""
	}
	date, _ := parseDate(r.headers.Get("WARC-Date"))
	uri := r.headers.Get("WARC-Target-URI")
	host, rest, _ := strings.Cut(strings.TrimPrefix(uri, "http://"), "/")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	f := map[string]string{
		"url": uri, "mime": "text/html", "digest": strings.TrimPrefix(r.headers.Get("WARC-Payload-Digest"), "sha1:"),
		"length": strconv.Itoa(length), "offset": strconv.Itoa(offset), "filename": path.Base(s.key(".warc.gz")),
	}
	if typ == "revisit" {
		f["mime"] = "warc/revisit"
	}
	if m, err := parseResponse([]byte(r.block)); err == nil {
		f["status"] = strconv.Itoa(m.status)
	}
	block, _ := json.Marshal(f)
	return fmt.Sprintf("%s)/%s %s %s", strings.Join(labels, ","), rest, date.Format(indexTime), block)
}

func writeObject(t testing.TB, dir, key string, data []byte) map[string]any {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return map[string]any{"key": key, "bytes": len(data), "sha256": hex.EncodeToString(sum[:])}
}

func sha1Of(data string) string {
	_, sum, _ := strings.Cut(string(digestOf("sha1", []byte(data))), ":")
	return "sha1:" + base32.StdEncoding.EncodeToString([]byte(sum))
}

func sha256Of(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func uuid(n int) string { return fmt.Sprintf("<urn:uuid:00000000-0000-4000-8000-%012x>", n) }

func newRecord(typ string, id int, uri, second, contentType, block string) *testRecord {
	r := &testRecord{version: "WARC/1.1", block: block, end: recordEnd}
	r.headers = Headers{
		{"WARC-Type", typ}, {"WARC-Record-ID", uuid(id)}, {"WARC-Date", "2026-01-02T03:04:" + second + "Z"},
		{"Content-Type", contentType},
	}
	if uri != "" {
		r.set("WARC-Target-URI", uri)
	}
	return r
}

// exchange makes a response, its request and its metadata, with record IDs id, id+1 and id+2.
func exchange(id int, uri, second, head, body string) []*testRecord {
	res := newRecord("response", id, uri, second, "application/http; msgtype=response", head+"\r\n\r\n"+body)
	res.set("WARC-Payload-Digest", sha1Of(body))
	res.set("WARC-IP-Address", "192.0.2.7")
	req := newRecord("request", id+1, uri, second, "application/http;msgtype=request", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	req.set("WARC-Concurrent-To", uuid(id))
	meta := newRecord("metadata", id+2, uri, second, "application/warc-fields", "outlink: http://example.com/b L a\r\nfetchTimeMs: 12\r\n")
	meta.set("WARC-Concurrent-To", uuid(id))
	return []*testRecord{res, req, meta}
}

// revisitOf makes a revisit and its request from an exchange: no body, and a profile.
func revisitOf(id int, uri, second, head, profile, of, ofSecond string) []*testRecord {
	records := exchange(id, uri, second, head, "")[:2]
	records[0].set("WARC-Type", "revisit")
	records[0].del("WARC-Payload-Digest")
	records[0].set("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/"+profile)
	records[0].set("WARC-Refers-To-Target-URI", of)
	records[0].set("WARC-Refers-To-Date", "2026-01-02T03:04:"+ofSecond+"Z")
	return records
}

func warcinfo(id int) *testRecord {
	return newRecord("warcinfo", id, "", "00", "application/warc-fields", "software: Muninn\r\nformat: WARC File Format 1.1\r\n")
}

const (
	okHead   = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
	chunked  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
	chunks   = "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
	unchunks = "hello world"
)

// goodArchive has every kind of record in two crawls. Segment 0 has in order: warcinfo; response,
// request and metadata of /; of /chunked; of /robots.txt; a DNS answer; a resource.
func goodArchive() *testArchive {
	decoded := exchange(20, "http://example.com/chunked", "02", chunked, chunks)
	decoded[0].set("WARC-Payload-Digest", sha1Of(unchunks))
	raw := exchange(30, "http://example.com/raw", "08", chunked, chunks)
	cut := exchange(40, "http://www.example.com/cut", "09", chunked, chunks[:10])
	cut[0].set("WARC-Truncated", "length")
	cut[0].set("WARC-Payload-Digest", sha1Of("hel"))
	sha := exchange(60, "http://example.org/", "05.123456", okHead, "sha256")
	sha[0].set("WARC-Payload-Digest", sha256Of("sha256"))
	dns := newRecord("response", 70, "dns:example.com", "01", "text/dns", "20260102030401\nexample.com. 60 IN A 192.0.2.7\n")
	dns.noLine = true
	resource := newRecord("resource", 71, "http://example.com/thing", "01", "text/plain", "thing")
	resource.set("WARC-Payload-Digest", sha1Of("thing"))
	same := revisitOf(80, "http://example.com/copy", "10", okHead, "identical-payload-digest", "http://example.com/", "01")
	same[0].set("WARC-Payload-Digest", sha1Of("<p>one"))
	same[0].set("WARC-Refers-To", uuid(10))
	notModified := revisitOf(90, "http://example.com/", "11", "HTTP/1.1 304 Not Modified", "server-not-modified", "http://example.com/", "01")

	return &testArchive{segments: []*testSegment{
		{crawl: "news", batch: "example.com.1", links: "{\"url\":\"http://example.com/b\"}\n", records: slices.Concat(
			[]*testRecord{warcinfo(1)},
			exchange(10, "http://example.com/", "01", okHead, "<p>one"),
			decoded,
			exchange(50, "http://example.com/robots.txt", "03", okHead, "User-agent: *\n"),
			[]*testRecord{dns, resource},
		)},
		{crawl: "news", batch: "example.com.2", records: slices.Concat([]*testRecord{warcinfo(2)}, raw, cut, same, notModified)},
		{crawl: "arts", batch: "example.org.1", records: append([]*testRecord{warcinfo(3)}, sha...)},
	}}
}

package archivecheck

import (
	"bytes"
	"testing"
)

// The consequences of a broken member: faults of the records and lines that point to it.
var lostResponse = []string{"is not in the file", "concurrent to 0 responses", "is concurrent to no response", "is not the start of a record", "the archive has no such response", "no response in the archive has the payload", "is not a response in the archive"}

func with(fault string, more ...string) []string { return append([]string{fault}, more...) }

func TestMemberFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"crc", bendWARC(func(b []byte) []byte { // of the last member, a resource
			b[len(b)-8] ^= 1
			return b
		}), []string{"bad gzip member: gzip: invalid checksum", "is not the start of a record"}},
		{"truncated", bendWARC(func(b []byte) []byte { return b[:len(b)-3] }),
			[]string{"cannot be read: offset", "manifest says 12 records", "is not the start of a record"}},
		{"no gzip", bendWARC(func(b []byte) []byte { return append(b, "junk that is no member"...) }),
			[]string{"gzip: invalid header"}},
		{"empty file", bendWARC(func([]byte) []byte { return nil }),
			with("the file holds no record", append(lostResponse[3:], "manifest says 12", "the index has 4 lines")...)},
		{"empty member", bendWARC(func(b []byte) []byte { return append(b, gzipMember(nil)...) }),
			[]string{"the member is empty", "has 13"}},
		{"two records", func(s, _ *testSegment) { s.records[iResponse].next = warcinfo(99) },
			with("holds more than one record", append(lostResponse, "the index has")...)},
		{"one record in two members", bendWARC(func([]byte) []byte {
			b := warcinfo(1).bytes()
			return append(gzipMember(b[:80]), gzipMember(b[80:])...)
		}), with("the header block has no end", append(lostResponse[3:], "not with a WARC version line", "records", "the index has")...)},
	})
}

func TestRecordFaults(t *testing.T) {
	broken := append(lostResponse, "the index has")
	runFaults(t, []faultCase{
		{"version line", func(s, _ *testSegment) { s.records[iResponse].version = "HTTP/1.1" },
			with(`starts with "HTTP/1.1`, broken...)},
		{"version", func(s, _ *testSegment) { s.records[iResponse].version = "WARC/1.0" }, []string{"the record is WARC/1.0, not WARC/1.1"}},
		{"header line", set(iResponse, "bad name", "x"), with("is not a named field", broken...)},
		{"length too long", set(iResponse, "Content-Length", "1000"), with("but only", broken...)},
		{"length too short", set(iResponse, "Content-Length", "10"), with("but the block has", broken...)},
		{"length not a number", set(iResponse, "Content-Length", "+1"), with("is not a number", broken...)},
		{"no end", func(s, _ *testSegment) { s.records[iResponse].end = "\r\n" }, with("not by CRLFCRLF", broken...)},
		{"end of LF", func(s, _ *testSegment) { s.records[iResponse].end = "\n\n\n\n" }, with("not by CRLFCRLF", broken...)},
		{"trailing bytes", func(s, _ *testSegment) { s.records[iResponse].end = "\r\n\r\nmore" }, with("4 bytes follow its end", broken...)},
		{"no type", del(iChunked, "WARC-Type"), []string{`of type ""`, "request of", "metadata of", "points to a  record", "the index has"}},
		{"other type", set(iChunked, "WARC-Type", "conversion"), []string{`of type "conversion"`, "request of", "metadata of", "points to a conversion", "the index has"}},
		{"no id", del(iRequest, "WARC-Record-ID"), []string{`WARC-Record-ID "" is not`}},
		{"id form", set(iRequest, "WARC-Record-ID", "urn:uuid:00000000-0000-4000-8000-000000000001"), []string{"WARC-Record-ID"}},
		{"id digits", set(iRequest, "WARC-Record-ID", "<urn:uuid:0000000g-0000-4000-8000-000000000001>"), []string{"holds no UUID"}},
		{"id twice", set2(2, "WARC-Record-ID", uuid(11)), []string{"is also that of the record in news/data/example.com.1-0a1b2c.warc.gz at"}},
		{"no date", del(iRequest, "WARC-Date"), []string{`WARC-Date ""`}},
		{"date not UTC", set(iRequest, "WARC-Date", "2026-01-02T03:04:01+01:00"), []string{"is not RFC 3339 in UTC"}},
		{"repeated field", func(s, _ *testSegment) {
			s.records[iRequest].headers = append(s.records[iRequest].headers, Header{"warc-date", "2026-01-02T03:04:01Z"})
		}, []string{"the field warc-date is repeated"}},
		{"no target", del(iRequest, "WARC-Target-URI"), []string{"is not an absolute URI", "concurrent to", "0 request records"}},
		{"content type", set(iResponse, "Content-Type", "text/html"), []string{`Content-Type of the response is "text/html"`}},
		{"filename", set(iInfo, "WARC-Filename", "other.warc.gz"), []string{`WARC-Filename is "other.warc.gz"`}},
		{"warcinfo id", set(iResponse, "WARC-Warcinfo-ID", uuid(2)), []string{"is not that of the file's warcinfo"}},
		{"no warcinfo", func(s, _ *testSegment) { s.records = s.records[1:] }, []string{`the first record is of type "response"`}},
		{"second warcinfo", func(s, _ *testSegment) { s.records = append(s.records, warcinfo(99)) }, []string{"a warcinfo record that is not the first"}},
		{"truncated reason", set(iResponse, "WARC-Truncated", "tired"), []string{`WARC-Truncated "tired"`}},
		{"truncated empty", set(iResponse, "WARC-Truncated", ""), []string{`WARC-Truncated ""`}},
		{"no IP", del(iResponse, "WARC-IP-Address"), []string{`WARC-IP-Address ""`}},
		{"bad IP", set(iRequest, "WARC-IP-Address", "example.com"), []string{`WARC-IP-Address "example.com"`}},
	})
}

func TestBlockFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"block digest", set(iRequest, "WARC-Block-Digest", sha1Of("other")), []string{"WARC-Block-Digest of the request"}},
		{"digest without prefix", set(iRequest, "WARC-Block-Digest", "ABC"), []string{"has no algorithm prefix"}},
		{"digest algorithm", set(iRequest, "WARC-Block-Digest", "md5:00"), []string{"neither sha1 nor sha256"}},
		{"sha1 in hex", set(iRequest, "WARC-Block-Digest", "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"), []string{"no sha1 sum in base32"}},
		{"sha256 block digest", set(iRequest, "WARC-Block-Digest", sha256Of("other")), []string{"WARC-Block-Digest of the request"}},
		{"payload digest", set(iResponse, "WARC-Payload-Digest", sha1Of("other")), []string{
			"WARC-Payload-Digest of the response", "no response in the archive has the payload", "no such response with its payload"}},
		{"payload digest of chunks", set(iChunked, "WARC-Payload-Digest", sha1Of("other")), []string{"WARC-Payload-Digest of the response"}},
		{"payload digest of metadata", set(iMetadata, "WARC-Payload-Digest", sha1Of("other")), []string{"WARC-Payload-Digest of the metadata"}},
		{"payload digest of request", set(iRequest, "WARC-Payload-Digest", sha1Of("other")), []string{"WARC-Payload-Digest of the request"}},
		{"no payload digest", func(s, _ *testSegment) { s.records[iChunked].del("WARC-Payload-Digest") }, []string{"the response has no WARC-Payload-Digest"}},
		{"bad chunks are not decoded", func(s, _ *testSegment) {
			s.records[iChunked].block = chunked + "\r\n\r\n5\r\nhello\r\nnonsense"
			s.records[iChunked].set("WARC-Payload-Digest", sha1Of("hello"))
		}, []string{"WARC-Payload-Digest of the response"}},
		{"status line", func(s, _ *testSegment) { s.records[iChunked].block = "ICY 200 OK\r\n\r\n" }, []string{"is not an HTTP status line"}},
		{"version", func(s, _ *testSegment) { s.records[iChunked].block = "HTTP/11 200 OK\r\n\r\n" }, []string{"is not an HTTP status line"}},
		{"header without end", func(s, _ *testSegment) {
			s.records[iChunked].block = "HTTP/1.1 200 OK\r\nA: b"
			s.records[iChunked].set("WARC-Payload-Digest", sha1Of(""))
		}, []string{"the HTTP header has no end"}},
		{"request line", block(iRequest, "GET /\r\n\r\n"), []string{"not an HTTP request"}},
		{"warc-fields", block(iMetadata, "outlink http\r\n"), []string{"is not a named field that ends with CRLF"}},
		{"warc-fields with LF", block(iInfo, "software: Muninn\n"), []string{"is not a named field that ends with CRLF"}},
	})
}

func TestConcurrentFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"request without", del(iRequest, "WARC-Concurrent-To"), []string{"the request of http://example.com/ is concurrent to 0", "has 0 request records"}},
		{"request to nothing", set(iRequest, "WARC-Concurrent-To", uuid(999)), []string{"not in the file", "concurrent to 0", "has 0 request records"}},
		{"request to another file", set(iRequest, "WARC-Concurrent-To", uuid(30)), []string{"not in the file", "concurrent to 0", "has 0 request records"}},
		{"request to another URI", set(iRequest, "WARC-Concurrent-To", uuid(20)), []string{"is concurrent to a response of http://example.com/chunked", "concurrent to 0", "has 0 request records"}},
		{"request to metadata", set(iRequest, "WARC-Concurrent-To", uuid(12)), []string{"concurrent to 0", "has 0 request records"}},
		{"bad reference", set(iRequest, "WARC-Concurrent-To", "x"), []string{`WARC-Concurrent-To "x"`, "concurrent to 0", "has 0 request records"}},
		{"two requests", func(s, _ *testSegment) {
			again := *s.records[iRequest]
			again.headers = cloneHeaders(again.headers)
			again.set("WARC-Record-ID", uuid(99))
			s.records = append(s.records, &again)
		}, []string{"response of http://example.com/ has 2 request records"}},
		{"metadata without", del(iMetadata, "WARC-Concurrent-To"), []string{"the metadata of http://example.com/ is concurrent to no"}},
		{"metadata to request", set(iMetadata, "WARC-Concurrent-To", uuid(11)), []string{"the metadata of http://example.com/ is concurrent to no"}},
	})
}

func TestRevisitFaults(t *testing.T) {
	runFaults(t, []faultCase{
		{"no profile", del2(iSame, "WARC-Profile"), []string{`WARC-Profile ""`}},
		{"other profile", set2(iSame, "WARC-Profile", "http://example.com/"), []string{"WARC-Profile"}},
		{"no reference", del2(iNotModified, "WARC-Refers-To-Date"), []string{"the revisit has neither"}},
		{"only an ID is enough", del2(iSame, "WARC-Refers-To-Date", "WARC-Refers-To-Target-URI"), nil},
		{"only URI and date is enough", del2(iSame, "WARC-Refers-To"), nil},
		{"no digest", del2(iSame, "WARC-Payload-Digest"), []string{"WARC-Payload-Digest of the revisit"}},
		{"no original", set2(iSame, "WARC-Payload-Digest", sha1Of("other")), []string{"no response in the archive has the payload digest"}},
		{"original is later", set2(iSame, "WARC-Date", "2026-01-02T03:04:00Z"), []string{"is later than it"}},
		{"reference to another payload", set2(iSame, "WARC-Refers-To-Target-URI", "http://example.com/raw"), []string{"the archive has no such response"}},
		{"reference to another time", set2(iNotModified, "WARC-Refers-To-Date", "2026-01-02T03:04:59Z"), []string{"the archive has no such response"}},
		{"reference date", set2(iNotModified, "WARC-Refers-To-Date", "yesterday"), []string{`WARC-Refers-To-Date "yesterday"`}},
		{"reference to a request", set2(iSame, "WARC-Refers-To", uuid(11)), []string{"which is not a response"}},
		{"reference form", set2(iSame, "WARC-Refers-To", "x"), []string{`WARC-Refers-To "x"`}},
		{"empty block is fine", func(_, s *testSegment) { s.records[iSame].block = "" }, nil},
		{"status line", func(_, s *testSegment) { s.records[iSame].block = "nonsense" }, []string{"is not an HTTP status line"}},
		{"header without end", func(_, s *testSegment) { s.records[iSame].block = "HTTP/1.1 200 OK\r\n" }, []string{"header of the revisit has no end"}},
	})
}

func cloneHeaders(h Headers) Headers { return append(Headers(nil), h...) }

func TestDechunk(t *testing.T) {
	for _, c := range []struct {
		in, want string
		whole    bool
	}{
		{chunks, unchunks, true},
		{"0\r\n\r\n", "", true},
		{"5\nhello\n0\n\n", "hello", true},
		{"a\r\nhello", "hello", false},
		{"5\r\nhelloX", "hello", false},
		{"", "", false},
		{"zz\r\n", "", false},
		{"ffffffffffffffffffff\r\nx", "", false},
	} {
		got, whole := dechunk([]byte(c.in))
		if !bytes.Equal(got, []byte(c.want)) || whole != c.whole {
			t.Errorf("dechunk(%q) = %q, %v; want %q, %v", c.in, got, whole, c.want, c.whole)
		}
	}
}

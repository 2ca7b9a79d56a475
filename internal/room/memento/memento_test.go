package memento_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/build"
	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/room/memento"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func later(hours int) time.Time { return epoch.Add(time.Duration(hours) * time.Hour) }

// rig is an archive that is served.
type rig struct {
	t       testing.TB
	archive *catalogtest.Archive
	c       catalogue.Catalogue
	handler http.Handler
}

const base = "https://archive.example"

func newRig(t testing.TB) *rig {
	t.Helper()
	c, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	a := catalogtest.NewArchive(t)
	return &rig{t, a, c, memento.New(c, a.Store, memento.Options{Base: base + "/"})}
}

// fill takes what was archived into the catalogue.
func (r *rig) fill() {
	r.t.Helper()
	if _, err := (&build.Builder{Store: r.archive.Store, To: r.c}).Fill(r.t.Context(), archive.CrawlAt{Name: "ravens"}); err != nil {
		r.t.Fatal(err)
	}
}

// get asks for a path; header is "Name: value".
func (r *rig) get(path string, header ...string) *http.Response {
	r.t.Helper()
	request := "GET " + strings.TrimPrefix(path, base) + " HTTP/1.1\r\nHost: archive.example\r\n" + strings.Join(append(header, ""), "\r\n") + "\r\n"
	return r.send(request)
}

// send handles a request as it is on the wire.
func (r *rig) send(request string) *http.Response {
	r.t.Helper()
	parsed, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
	if err != nil {
		r.t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	r.handler.ServeHTTP(answer, parsed.WithContext(r.t.Context()))
	return answer.Result()
}

func text(t testing.TB, answer *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// links are the links of an answer, as rel → URLs.
func links(field string) map[string][]string {
	out := map[string][]string{}
	for _, m := range regexp.MustCompile(`<([^>]*)>((?:; [a-z]+="[^"]*")*)`).FindAllStringSubmatch(field, -1) {
		rel := regexp.MustCompile(`rel="([^"]*)"`).FindStringSubmatch(m[2])
		out[rel[1]] = append(out[rel[1]], m[1])
	}
	return out
}

// TestMemento: twenty checks of RFC 7089, by section.
func TestMemento(t *testing.T) {
	r := newRig(t)
	const url = "http://a.example/page?x=1&y=%20"
	for i := range 5 {
		r.archive.Segment(fmt.Sprintf("a.example-%d@w.1", i), catalogtest.Response{URL: url, Body: fmt.Sprint("<p>version ", i), Title: "v", Date: later(i * 24)})
	}
	r.archive.Segment("b.example-1@w.1", catalogtest.Response{URL: "http://b.example/", Body: "<p>once", Date: later(1)})
	r.fill()
	gate, timemap := base+"/web/"+url, base+"/web/timemap/link/"+url
	at := func(i int) string { return base + "/web/" + later(i*24).Format("20060102150405") + "id_/" + url }
	accept := func(hours int) string { return "Accept-Datetime: " + later(hours).Format(http.TimeFormat) }
	for _, check := range []struct {
		name string
		does func(fault func(string, ...any))
	}{
		{"§4.2.1 a TimeGate redirects to a memento", func(fault func(string, ...any)) {
			if a := r.get(gate, accept(25)); a.StatusCode != 302 || a.Header.Get("Location") != at(1) {
				fault("%d, %s", a.StatusCode, a.Header.Get("Location"))
			}
		}},
		{"§2.1.2 a TimeGate varies by Accept-Datetime", func(fault func(string, ...any)) {
			if a := r.get(gate, accept(25)); !strings.Contains(a.Header.Get("Vary"), "accept-datetime") {
				fault("Vary %q", a.Header.Get("Vary"))
			}
		}},
		{"§4.2.1 a TimeGate links to the original", func(fault func(string, ...any)) {
			if l := links(r.get(gate, accept(25)).Header.Get("Link")); !slices.Equal(l["original"], []string{url}) {
				fault("%v", l)
			}
		}},
		{"§4.2.1 a TimeGate links to the TimeMap", func(fault func(string, ...any)) {
			if l := links(r.get(gate, accept(25)).Header.Get("Link")); !slices.Equal(l["timemap"], []string{timemap}) {
				fault("%v", l)
			}
		}},
		{"§4.2.1 a TimeGate that redirects is no memento", func(fault func(string, ...any)) {
			if a := r.get(gate, accept(25)); a.Header.Get("Memento-Datetime") != "" {
				fault("Memento-Datetime %q", a.Header.Get("Memento-Datetime"))
			}
		}},
		{"§4.5.3 a time before all leads to the first memento", func(fault func(string, ...any)) {
			if a := r.get(gate, accept(-1000)); a.Header.Get("Location") != at(0) {
				fault("%s", a.Header.Get("Location"))
			}
		}},
		{"§4.5.3 a time behind all leads to the last memento", func(fault func(string, ...any)) {
			if a := r.get(gate, accept(10000)); a.Header.Get("Location") != at(4) {
				fault("%s", a.Header.Get("Location"))
			}
		}},
		{"§4.5 without Accept-Datetime the last memento is meant", func(fault func(string, ...any)) {
			if a := r.get(gate); a.StatusCode != 302 || a.Header.Get("Location") != at(4) || a.Header.Get("Vary") == "" {
				fault("%d, %s", a.StatusCode, a.Header.Get("Location"))
			}
		}},
		{"§4.5.2 a time that cannot be read is 400", func(fault func(string, ...any)) {
			for _, bad := range []string{"yesterday", "2026-03-04T05:06:07Z", "Wed, 04 Mar 2026 05:06:07 CET"} {
				if a := r.get(gate, "Accept-Datetime: "+bad); a.StatusCode != 400 || !strings.Contains(text(t, a), "Accept-Datetime") || a.Header.Get("Vary") == "" {
					fault("%s: %d", bad, a.StatusCode)
				}
			}
		}},
		{"§4.5.5 a TimeGate without mementos is 404", func(fault func(string, ...any)) {
			a := r.get("/web/http://a.example/none", accept(1))
			if l := links(a.Header.Get("Link")); a.StatusCode != 404 || !slices.Equal(l["original"], []string{"http://a.example/none"}) {
				fault("%d, %v", a.StatusCode, l)
			}
		}},
		{"§2.1.1 a memento has its time", func(fault func(string, ...any)) {
			if a := r.get(at(1)); a.StatusCode != 200 || a.Header.Get("Memento-Datetime") != "Thu, 05 Mar 2026 05:06:07 GMT" || text(t, a) != "<p>version 1" {
				fault("%d, %q", a.StatusCode, a.Header.Get("Memento-Datetime"))
			}
		}},
		{"§4.1 a memento has no Vary by time", func(fault func(string, ...any)) {
			if a := r.get(at(1)); a.Header.Get("Vary") != "" {
				fault("Vary %q", a.Header.Get("Vary"))
			}
		}},
		{"§2.2.1 a memento links to original, TimeGate and TimeMap", func(fault func(string, ...any)) {
			l := links(r.get(at(1)).Header.Get("Link"))
			if !slices.Equal(l["original"], []string{url}) || !slices.Equal(l["timegate"], []string{gate}) || !slices.Equal(l["timemap"], []string{timemap}) {
				fault("%v", l)
			}
		}},
		{"§2.2.4 links to mementos have their times, first and last are named", func(fault func(string, ...any)) {
			field := r.get(at(1)).Header.Get("Link")
			l := links(field)
			if !slices.Equal(l["first memento"], []string{at(0)}) || !slices.Equal(l["last memento"], []string{at(4)}) || !slices.Equal(l["memento"], []string{at(1)}) ||
				!strings.Contains(field, `datetime="Thu, 05 Mar 2026 05:06:07 GMT"`) {
				fault("%s", field)
			}
		}},
		{"§2.2.4 the only memento is first and last", func(fault func(string, ...any)) {
			l := links(r.get("/web/" + later(1).Format("20060102150405") + "id_/http://b.example/").Header.Get("Link"))
			if len(l["first last memento"]) != 1 || len(l["memento"]) != 0 {
				fault("%v", l)
			}
		}},
		{"§4.4 a time that no memento has leads to the nearest one", func(fault func(string, ...any)) {
			for _, stamp := range []string{"20260305050600", "2026030505", "20260305"} {
				if a := r.get("/web/" + stamp + "id_/" + url); a.StatusCode != 302 || a.Header.Get("Location") != at(1) || a.Header.Get("Memento-Datetime") != "" {
					fault("%s: %d, %s", stamp, a.StatusCode, a.Header.Get("Location"))
				}
			}
		}},
		{"§5 a TimeMap is application/link-format, with original, TimeGate, self and all mementos", func(fault func(string, ...any)) {
			a := r.get(timemap)
			body := text(t, a)
			l := links(body)
			all := slices.Concat(l["first memento"], l["memento"], l["last memento"])
			if a.Header.Get("Content-Type") != "application/link-format" || !slices.Equal(all, []string{at(0), at(1), at(2), at(3), at(4)}) ||
				!slices.Equal(l["original"], []string{url}) || !slices.Equal(l["timegate"], []string{gate}) || !slices.Equal(l["self"], []string{timemap}) {
				fault("%s", body)
			}
		}},
		{"§5 a TimeMap says from when until when it is", func(fault func(string, ...any)) {
			if body := text(t, r.get(timemap)); !strings.Contains(body, `rel="self"; type="application/link-format"; from="Wed, 04 Mar 2026 05:06:07 GMT"; until="Sun, 08 Mar 2026 05:06:07 GMT"`) {
				fault("%s", body)
			}
		}},
		{"§5 a TimeMap in JSON and in CDXJ has the same mementos", func(fault func(string, ...any)) {
			var m struct {
				Original string `json:"original_uri"`
				Mementos struct {
					List        []struct{ Datetime, URI string }
					First, Last struct{ URI string }
				}
			}
			if err := json.Unmarshal([]byte(text(t, r.get("/web/timemap/json/"+url))), &m); err != nil || len(m.Mementos.List) != 5 || m.Original != url ||
				m.Mementos.First.URI != at(0) || m.Mementos.Last.URI != at(4) || m.Mementos.List[1].Datetime != "2026-03-05T05:06:07Z" {
				fault("%+v, %v", m, err)
			}
			body := text(t, r.get("/web/timemap/cdxj/"+url))
			if n := strings.Count(body, "\n2026"); n != 5 || !strings.Contains(body, `20260305050607 {"uri": "`+at(1)+`", "rel": "memento", "datetime": "Thu, 05 Mar 2026 05:06:07 GMT"`) {
				fault("%s", body)
			}
		}},
		{"§5 a TimeMap without mementos, and one of an unknown format, are 404", func(fault func(string, ...any)) {
			for _, path := range []string{"/web/timemap/link/http://a.example/none", "/web/timemap/xml/" + url, "/web/timemap/", "/web/timemap/link"} {
				if a := r.get(path); a.StatusCode != 404 && a.StatusCode != 400 {
					fault("%s: %d", path, a.StatusCode)
				}
			}
		}},
		{"RFC 9110 HEAD is GET without a body; other methods are refused", func(fault func(string, ...any)) {
			a := r.send("HEAD " + strings.TrimPrefix(at(1), base) + " HTTP/1.1\r\nHost: x\r\n\r\n")
			if a.StatusCode != 200 || a.Header.Get("Memento-Datetime") == "" || text(t, a) != "" {
				fault("%d", a.StatusCode)
			}
			if a := r.send("POST " + strings.TrimPrefix(gate, base) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"); a.StatusCode != 405 {
				fault("%d", a.StatusCode)
			}
		}},
	} {
		check.does(func(format string, args ...any) { t.Errorf(check.name+": "+format, args...) })
	}
}

// TestPagesOfTimeMap: the pages of a TimeMap list every memento once, and name the next one.
func TestPagesOfTimeMap(t *testing.T) {
	r := newRig(t)
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "ravens"}, Name: "s"}}
	for i := range 2500 {
		s.Entries = append(s.Entries, catalogue.Entry{Indexed: archive.Indexed{URL: "http://a.example/", Date: epoch.Add(time.Duration(i/3) * time.Second), Offset: int64(i), Digest: "sha1:X", Status: 200}})
	}
	if err := r.c.AddSegments(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for format, next := range map[string]*regexp.Regexp{
		"link": regexp.MustCompile(`<([^>]*)>; rel="timemap"`), "json": regexp.MustCompile(`"next":"([^"]*)"`), "cdxj": regexp.MustCompile(`!meta {"next": "([^"]*)"}`),
	} {
		path, n, pages := base+"/web/timemap/"+format+"/http://a.example/", 0, 0
		for path != "" && pages < 5 {
			pages++
			body := text(t, r.get(path))
			n += strings.Count(body, "id_/http://a.example/")
			first, last := strings.Contains(body, "first memento") || strings.Contains(body, `"first":`), strings.Contains(body, "last memento") || strings.Contains(body, `"last":`)
			if first != (pages == 1) || last != (pages == 3) {
				t.Errorf("%s: page %d: first %v, last %v", format, pages, first, last)
			}
			if path = ""; next.MatchString(body) {
				path = next.FindStringSubmatch(body)[1]
			}
		}
		if format == "json" {
			n -= 2 // first and last stand there twice
		}
		if n != 2500 || pages != 3 {
			t.Errorf("%s: %d mementos in %d pages", format, n, pages)
		}
	}
	if a := r.get("/web/timemap/link/@nonsense/http://a.example/"); a.StatusCode != 400 {
		t.Errorf("a place that is none: %d", a.StatusCode)
	}
}

// TestRaw: captures are served as they came, byte for byte, with fields that cannot act for the archive's origin.
func TestRaw(t *testing.T) {
	r := newRig(t)
	packed := fixture.Gzip("<p>packed")
	const hostile = "HTTP/1.1 200 OK\nContent-Type: text/html\nSet-Cookie: a=b\nContent-Security-Policy: default-src *\nLink: <x>; rel=original\nMemento-Datetime: never\n" +
		"Connection: close, X-Hop\nX-Hop: 1\nKeep-Alive: 5\nRefresh: 0; url=http://evil.example/\nClear-Site-Data: *\nService-Worker-Allowed: /\nAccess-Control-Allow-Origin: *\nContent-Language: en\n"
	const big = 3 << 20
	r.archive.Segment("a.example-1@w.1",
		catalogtest.Response{URL: "http://a.example/plain", Body: "<script>alert(1)</script>", Title: "p"},
		catalogtest.Response{URL: "http://a.example/packed", Head: "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Encoding: gzip\n", Body: packed},
		catalogtest.Response{URL: "http://a.example/chunked", Head: "HTTP/1.1 200 OK\nContent-Type: text/html\nTransfer-Encoding: chunked\n", Body: "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", Chunked: true},
		catalogtest.Response{URL: "http://a.example/hostile", Head: hostile, Body: "x"},
		catalogtest.Response{URL: "http://a.example/moved", Head: "HTTP/1.1 301 Moved Permanently\nLocation: /plain?a#b\nContent-Length: 0\n"},
		catalogtest.Response{URL: "http://a.example/away", Head: "HTTP/1.1 302 Found\nLocation: javascript:alert(1)\nContent-Length: 0\n"},
		catalogtest.Response{URL: "http://a.example/missing", Head: "HTTP/1.1 404 Not Found\nContent-Type: text/plain\n", Body: "no"},
		catalogtest.Response{URL: "http://a.example/part", Head: "HTTP/1.1 206 Partial Content\nContent-Type: text/plain\nContent-Range: bytes 0-1/5\n", Body: "ab"},
		catalogtest.Response{URL: "http://a.example/short", Head: "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 100\n", Body: "cut off"},
		catalogtest.Response{URL: "http://a.example/bare", Body: "no header at all", Headerless: true},
		catalogtest.Response{URL: "http://a.example/bad", Head: "HTTP/1.1 200 OK\nContent-Type: text/plain\nno field\nBad Name: x\n", Body: "faulty header"},
		catalogtest.Response{URL: "http://a.example/big", Body: strings.Repeat("0123456789abcdef", big/16), MIME: "video/mp4"},
		catalogtest.Response{URL: "http://a.example/no-type", Head: "HTTP/1.1 200 OK\nServer: x\n", Body: "<b>"},
	)
	r.fill()
	for _, test := range []struct {
		path, body string
		status     int
		header     map[string]string // "" : is not there
	}{
		{"plain", "<script>alert(1)</script>", 200, map[string]string{"Content-Type": "text/html", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}},
		{"packed", packed, 200, map[string]string{"Content-Encoding": "gzip"}},
		{"chunked", "hello, world", 200, map[string]string{"Transfer-Encoding": "", "X-Archive-Orig-Transfer-Encoding": ""}},
		{"hostile", "x", 200, map[string]string{
			"Set-Cookie": "", "X-Archive-Orig-Set-Cookie": "a=b", "Content-Security-Policy": "default-src 'none'; sandbox", "Memento-Datetime": "Wed, 04 Mar 2026 05:06:07 GMT",
			"X-Archive-Orig-Memento-Datetime": "never", "Connection": "", "X-Hop": "", "X-Archive-Orig-X-Hop": "", "Keep-Alive": "", "Refresh": "", "Clear-Site-Data": "",
			"Service-Worker-Allowed": "", "Access-Control-Allow-Origin": "", "Content-Language": "en",
		}},
		{"moved", "", 301, map[string]string{"Location": base + "/web/20260304050607id_/http://a.example/plain?a", "X-Archive-Orig-Location": "/plain?a#b"}},
		{"away", "", 302, map[string]string{"Location": "", "X-Archive-Orig-Location": "javascript:alert(1)"}},
		{"missing", "no", 404, nil},
		{"part", "ab", 200, map[string]string{"X-Archive-Orig-Status": "206", "Content-Range": "", "X-Archive-Orig-Content-Range": "bytes 0-1/5"}},
		{"short", "cut off", 200, map[string]string{"Content-Length": ""}},
		{"bare", "no header at all", 200, map[string]string{"Content-Type": "text/plain"}},
		{"bad", "faulty header", 200, map[string]string{"Content-Type": "text/plain"}},
		{"big", strings.Repeat("0123456789abcdef", big/16), 200, map[string]string{"Content-Type": "video/mp4"}},
		{"no-type", "<b>", 200, map[string]string{"Content-Type": "application/octet-stream", "X-Archive-Orig-Server": "x"}},
	} {
		a := r.get("/web/20260304050607id_/http://a.example/" + test.path)
		if got := text(t, a); a.StatusCode != test.status || got != test.body {
			t.Errorf("%s: status %d, %d bytes: %.60q", test.path, a.StatusCode, len(got), got)
		}
		for name, want := range test.header {
			if got := strings.Join(a.Header.Values(name), "|"); got != want {
				t.Errorf("%s: %s is %q, want %q", test.path, name, got, want)
			}
		}
		if l := a.Header.Values("Link"); len(l) != 1 || !strings.Contains(l[0], `<http://a.example/`+test.path+`>; rel="original"`) {
			t.Errorf("%s: Link %q", test.path, l)
		}
	}
	if a := r.get("/web/20260304050607id_/http://a.example/plain", "Service-Worker: script"); a.StatusCode != 403 {
		t.Errorf("a service worker: %d", a.StatusCode)
	}
}

// TestRevisits: a revisit has its own header and its original's payload; that of a 304 the original's header; without its original there is none.
func TestRevisits(t *testing.T) {
	r := newRig(t)
	head := func(server string) string {
		return "HTTP/1.1 200 OK\nContent-Type: text/html\nServer: " + server + "\n"
	}
	packed := fixture.Gzip("<p>packed")
	r.archive.Segment("a.example-1@w.1",
		catalogtest.Response{URL: "http://a.example/", Head: head("one"), Body: "<p>payload"},
		catalogtest.Response{URL: "http://a.example/other", Head: head("two"), Body: "<p>payload", Date: later(1)},
		catalogtest.Response{URL: "http://a.example/packed", Head: head("three") + "Content-Encoding: gzip\n", Body: packed},
		catalogtest.Response{URL: "http://a.example/packed", Head: head("four") + "Content-Encoding: br\n", Body: packed, Date: later(1)},
		catalogtest.Response{URL: "http://lost.example/", Head: head("five"), Body: "<p>lost"},
	)
	second := r.archive.Segment("a.example-2@w.1",
		catalogtest.Response{URL: "http://a.example/", Head: "HTTP/1.1 304 Not Modified\nServer: six\n", Unmodified: true, Date: later(2)},
		catalogtest.Response{URL: "http://a.example/dangling", Head: head("seven"), Body: "<p>lost", Date: later(3)},
	)
	r.fill()
	for _, test := range []struct {
		at                           int
		url, body, server, of, coded string
		status                       int
	}{
		{1, "http://a.example/other", "<p>payload", "two", "", "", 200},
		{2, "http://a.example/", "<p>payload", "one", "", "", 200},
		{1, "http://a.example/packed", packed, "four", "", "gzip", 200},
		{3, "http://a.example/dangling", "<p>lost", "seven", "", "", 200},
	} {
		a := r.get("/web/" + later(test.at).Format("20060102150405") + "id_/" + test.url)
		if got := text(t, a); a.StatusCode != test.status || got != test.body || a.Header.Get("X-Archive-Orig-Server") != test.server || a.Header.Get("Content-Encoding") != test.coded ||
			a.Header.Get("Memento-Datetime") != later(test.at).Format(http.TimeFormat) {
			t.Errorf("%s: %d, %q, %v", test.url, a.StatusCode, got, a.Header)
		}
	}
	alone := newRig(t) // a catalogue that has the second segment only
	alone.archive = r.archive
	alone.handler = memento.New(alone.c, r.archive.Store, memento.Options{Base: base})
	if err := os.Remove(filepath.Join(r.archive.Dir, "ravens/segments/a.example-1@w.1-0123456789abcdef.json")); err != nil {
		t.Fatal(err)
	}
	alone.fill()
	if a := alone.get("/web/" + later(3).Format("20060102150405") + "id_/http://a.example/dangling"); a.StatusCode != 404 || a.Header.Get("Memento-Datetime") != "" || !strings.Contains(text(t, a), "revisit") {
		t.Errorf("without its original: %d", a.StatusCode)
	}
	_ = second
}

// TestDamagedRecord: a record that cannot be read is an error without the names of files; one that breaks off within its body breaks the answer off.
func TestDamagedRecord(t *testing.T) {
	r := newRig(t)
	m := r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: strings.Repeat("0123456789abcdef", 1<<16), MIME: "video/mp4"})
	r.fill()
	file := filepath.Join(r.archive.Dir, m.WARC.Key)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r.handler)
	defer server.Close()
	get := func() (int, error) {
		a, err := http.Get(server.URL + "/web/20260304050607id_/http://a.example/")
		if err != nil {
			return 0, err
		}
		defer func() { _ = a.Body.Close() }()
		body, err := io.ReadAll(a.Body)
		if bytes.Contains(body, []byte(r.archive.Dir)) {
			t.Errorf("the answer names files: %s", body)
		}
		return a.StatusCode, err
	}
	for name, damage := range map[string]func() error{
		"gone":    func() error { return os.Remove(file) },
		"is none": func() error { return os.WriteFile(file, bytes.Repeat([]byte("x"), len(whole)), 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if status, err := get(); status != 503 || err != nil {
			t.Errorf("%s: %d, %v", name, status, err)
		}
		_ = os.Remove(file)
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(file, int64(len(whole)/2)); err != nil {
		t.Fatal(err)
	}
	if _, err := get(); err == nil {
		t.Error("an answer that was cut off looks whole")
	}
}

// TestCite: a citation is its capture; what names no capture leads nowhere.
func TestCite(t *testing.T) {
	r := newRig(t)
	r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>a", Title: "t"}, catalogtest.Response{URL: "http://a.example/b", Body: "<p>b", Date: later(1)},
		catalogtest.Response{URL: "http://a.example/", Body: "<p>again", Date: later(2)})
	deep := r.archive.SegmentOf(archive.Label{Prefix: "deep/er", Crawl: "crows", Batch: "c.example-1@w.1", Nonce: "0123456789abcdef"}, catalogtest.Response{URL: "http://c.example/", Body: "<p>c"},
		catalogtest.Response{URL: "http://a.example/b", Body: "<p>b of crows", Date: later(1)}) // of the same second
	r.fill()
	if _, err := (&build.Builder{Store: r.archive.Store, To: r.c}).Fill(t.Context(), archive.CrawlAt{Prefix: "deep/er", Name: "crows"}); err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{
		"ravens 05 http://a.example/": "a", "ravens 06 http://a.example/b": "b", "ravens 07 http://a.example/": "again", "crows 05 http://c.example/": "c", "crows 06 http://a.example/b": "b of crows",
	}
	n := 0
	err := r.c.Query(t.Context(), catalogue.Query{Match: catalogue.Range}, func(e catalogue.Entry) error {
		n++
		want, date := r.get("/web/"+e.Date.Format("20060102150405")+"id_/"+e.URL), e.Date.Format(http.TimeFormat)
		a := r.get(memento.CitationOf(&e))
		if a.StatusCode != 200 || a.Header.Get("Memento-Datetime") != date || a.Header.Get("Link") != want.Header.Get("Link") {
			t.Errorf("%s: %d, %v", memento.CitationOf(&e), a.StatusCode, a.Header)
		}
		if body := text(t, a); body != "<p>"+bodies[e.Crawl.Name+e.Date.Format(" 15 ")+e.URL] {
			t.Errorf("%s: %s", memento.CitationOf(&e), body)
		}
		return nil
	})
	if err != nil || n != 5 {
		t.Errorf("%d captures, %v", n, err)
	}
	segment := "/cite/deep/er/crows/" + deep.Segment()
	for path, status := range map[string]int{
		"/cite/": 400, "/cite/ravens/x": 400, "/cite/ravens/x/y": 400, "/cite/ravens/x/-1": 400, "/cite//x/1": 400, "/cite/ravens/%/1": 400,
		"/cite/ravens/none/1": 404, segment + "/0": 404, segment + "/1": 404, segment + "/99999999": 404, segment + "/99999999999999999999": 400,
	} {
		if strings.Contains(path, "%/") {
			continue // net/http refuses it before
		}
		if a := r.get(path); a.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, status)
		}
	}
}

// TestOddPaths: URLs come with one slash, without a scheme, with queries; what is none is 400 or 404.
func TestOddPaths(t *testing.T) {
	r := newRig(t)
	r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/x?y=http://z/%2F", Body: "<p>a"})
	r.fill()
	for path, status := range map[string]int{
		"/web/http://a.example/x?y=http://z/%2F": 302, "/web/http:/a.example/x?y=http://z/%2F": 302, "/web/a.example/x?y=http://z/%2F": 302, "/web/https://www.a.example/x?y=http://z/%2F": 302,
		"/web/2026/a.example/x?y=http://z/%2F": 302, "/web/2026id_/a.example/x?y=http://z/%2F": 302, "/web/2026js_/a.example/": 404, "/web/20261301id_/a.example/": 400,
		"/web/": 404, "/other": 404, "/web/http://": 400, "/web/ftp://a.example/": 400, "/web/javascript:alert(1)": 400, "/web/http://a.example/x": 404,
	} {
		a := r.get(path)
		if a.StatusCode != status {
			t.Errorf("%s: %d, want %d: %s", path, a.StatusCode, status, text(t, a))
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	shown := memento.New(r.c, r.archive.Store, memento.Options{Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) })})
	answer := httptest.NewRecorder()
	if shown.ServeHTTP(answer, httptest.NewRequest("GET", "/web/2026/http://a.example/", nil)); answer.Code != 418 {
		t.Errorf("a page: %d", answer.Code)
	}
	request := httptest.NewRequest("GET", "/web/http://a.example/x?y=http://z/%2F", nil)
	request.Host = "evil\"><script>"
	answer = httptest.NewRecorder()
	if shown.ServeHTTP(answer, request); strings.Contains(answer.Header().Get("Link"), "script") || !strings.HasPrefix(answer.Header().Get("Location"), "/web/2026") {
		t.Errorf("a hostile host: %v", answer.Header())
	}
}

func FuzzPath(f *testing.F) {
	r := newRig(f)
	r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>a"})
	r.fill()
	for _, seed := range []string{"web/http://a.example/", "web/2026id_/a.example", "web/timemap/link/@x/a.example", "cite/ravens/a.example-1@w.1-0123456789abcdef/400", "web/%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		request := httptest.NewRequest("GET", "/", nil)
		request.URL.Path = "/" + path
		answer := httptest.NewRecorder()
		r.handler.ServeHTTP(answer, request)
		if answer.Code >= 500 {
			t.Errorf("%q: %d: %s", path, answer.Code, answer.Body)
		}
		for name, values := range answer.Header() {
			for _, v := range values {
				if strings.ContainsAny(v, "\r\n") {
					t.Errorf("%q: %s: %q", path, name, v)
				}
			}
		}
	})
}

// TestYearOne: a time in a year before 2 is refused, and never taken for none.
func TestYearOne(t *testing.T) {
	r := newRig(t)
	r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>x", Date: later(1)})
	r.fill()
	for path, status := range map[string]int{"/web/0001id_/": 400, "/web/00010101000000id_/": 400, "/web/0000id_/": 400, "/web/0002id_/": 302, "/web/9999id_/": 302} {
		if a := r.get(path + "http://a.example/"); a.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, status)
		}
	}
	for date, status := range map[string]int{"Mon, 01 Jan 0001 00:00:00 GMT": 400, "Mon, 01 Jan 0001 00:00:01 GMT": 400, "Sat, 01 Jan 0000 00:00:00 GMT": 400, "Tue, 01 Jan 0002 00:00:00 GMT": 302} {
		if a := r.get("/web/http://a.example/", "Accept-Datetime: "+date); a.StatusCode != status || status == 400 && !strings.Contains(text(t, a), "Accept-Datetime") {
			t.Errorf("%s: %d, want %d", date, a.StatusCode, status)
		}
	}
}

// TestHugeHeader: of a header of an archived page that is larger than clients and proxies take, the first fields by their names are sent, and how many
// are not; those that describe the bytes are sent before others.
func TestHugeHeader(t *testing.T) {
	for name, head := range map[string]string{
		"many fields": strings.Repeat("A:\n", 100_000),
		"many names": func() (s string) {
			var b strings.Builder
			for i := range 5_000 {
				fmt.Fprintf(&b, "A-%d: x\n", i)
			}
			return b.String()
		}(),
		"a long field": "A: " + strings.Repeat("x", 500_000) + "\n",
		"many types":   strings.Repeat("Content-Language: en\n", 10_000),
	} {
		r := newRig(t)
		r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>x", Date: later(1), Head: "HTTP/1.1 200 OK\nContent-Type: text/html\n" + head + "Z: last\n"})
		r.fill()
		a := r.get("/web/" + later(1).Format(catalogue.Timestamp) + "id_/http://a.example/")
		size := 0
		for name, values := range a.Header {
			for _, v := range values {
				size += len(name) + len(v) + len(": \r\n")
			}
		}
		if got := text(t, a); a.StatusCode != 200 || got != "<p>x" || size > 18<<10 || a.Header.Get("Content-Type") != "text/html" || a.Header.Get("X-Archive-Left-Out") == "" {
			t.Errorf("%s: %d, %d bytes of header, type %q, left out %q, %.100q", name, a.StatusCode, size, a.Header.Get("Content-Type"), a.Header.Get("X-Archive-Left-Out"), got)
		}
		if last := a.Header.Get("X-Archive-Orig-Z"); name == "a long field" && (last != "last" || a.Header.Get("X-Archive-Left-Out") != "1") {
			t.Errorf("%s: the others are %q, left out %q", name, last, a.Header.Get("X-Archive-Left-Out"))
		}
	}
}

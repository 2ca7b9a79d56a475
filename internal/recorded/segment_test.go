package recorded

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// exchange makes what the crawler archives of an answer.
func exchange(url, header, body string) archive.Capture {
	raw := strings.ReplaceAll(header, "\n", "\r\n") + "\r\n\r\n"
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: url, IP: "192.0.2.7", Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Elapsed: time.Millisecond,
			HeaderBytes: int64(len(raw)), MIME: "text/html", Path: "SL", Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone},
		},
		Request:  strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
		Response: func() io.Reader { return strings.NewReader(raw + body) },
		Header:   func() io.Reader { return strings.NewReader(raw) },
		Body:     func() io.Reader { return strings.NewReader(body) },
	}
	_, _ = fmt.Sscanf(header, "HTTP/1.1 %d", &c.Status)
	c.Outcome.Status = c.Status
	return c
}

// TestSegment: pages that Muninn has archived are read by the folder, the file or the index.
func TestSegment(t *testing.T) {
	const head = "HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8"
	zip, long := fixture.Gzip(welcome), noise()
	page := exchange("http://a.example/", head, long)
	page.Page = &crawl.Judged{Verdict: crawl.Verdict{Score: 0.5, Links: []crawl.LinkVerdict{{}}}}
	page.Page.Page = crawl.Page{URL: page.URL, Status: 200, Title: "Noise", Links: []crawl.Outlink{{URL: "http://a.example/zip", Hop: crawl.HopLink, Block: -1}}}
	packed := exchange("http://a.example/zip", head+"\nContent-Encoding: gzip", zip)
	packed.Encoding = "gzip"
	parts := exchange("http://a.example/parts", head+"\nTransfer-Encoding: chunked", chunked("<p>in chunks", 5))
	parts.Chunked = true
	moved := exchange("http://a.example/moved", "HTTP/1.1 301 Moved Permanently\nLocation: /parts\nContent-Length: 0", "")
	moved.Location, moved.MIME = "/parts", ""
	robots := exchange("http://a.example/robots.txt", "HTTP/1.1 200 OK\nContent-Type: text/plain", "User-agent: *\nDisallow:\n")
	robots.Kind, robots.MIME = crawl.ExchangeRobots, "text/plain"
	dns := exchange("dns:a.example", "", "")
	dns.Kind, dns.MIME, dns.Response = crawl.ExchangeDNS, "text/dns", func() io.Reader { return strings.NewReader("a.example.\t300\tIN\tA\t192.0.2.7\n") }

	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: "b-1", Software: "Muninn test"}, page.Started, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Resource(dns); err != nil {
		t.Fatal(err)
	}
	for _, c := range []archive.Capture{
		robots, page, packed, parts, moved,
		exchange("http://a.example/same", head, long), // archived as a revisit
		exchange("http://a.example/missing", "HTTP/1.1 404 Not Found\nContent-Type: text/html", "<p>no"),
		exchange("http://b.example/", head, "<p>other"),
	} {
		if _, err := s.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if m.Counts.Revisits != 1 || m.Counts.Robots != 1 || m.Counts.Responses != 7 {
		t.Fatalf("%+v", m.Counts)
	}
	want := map[string]Page{
		"http://a.example/":        {Status: 200, MIME: "text/html", Body: []byte(long)},
		"http://a.example/zip":     {Status: 200, MIME: "text/html", Body: []byte(welcome)},
		"http://a.example/parts":   {Status: 200, MIME: "text/html", Body: []byte("<p>in chunks")},
		"http://a.example/moved":   {Status: 301, Location: "/parts"},
		"http://a.example/missing": {Status: 404, MIME: "text/html", Body: []byte("<p>no")},
		"http://b.example/":        {Status: 200, MIME: "text/html", Body: []byte("<p>other")},
	}
	var first *Web
	for _, where := range []string{dir, filepath.Join(dir, m.WARC.Key), filepath.Join(dir, m.CDXJ.Key)} {
		w := open(t, where)
		if len(w.Pages) != len(want) {
			t.Errorf("%s: %d pages, want %d", where, len(w.Pages), len(want))
		}
		for url, x := range want {
			p := w.page(t, url)
			if p.Status != x.Status || p.MIME != x.MIME || p.Location != x.Location || string(p.Body) != string(x.Body) {
				t.Errorf("%s: %s: %d %s %q with %d bytes, want %d %s %q with %d", where, url, p.Status, p.MIME, p.Location, len(p.Body), x.Status, x.MIME, x.Location, len(x.Body))
			}
			if first != nil && !reflect.DeepEqual(p, first.page(t, url)) {
				t.Errorf("%s: %s is another page than by the folder", where, url)
			}
		}
		if first == nil {
			first = w
		}
	}
}

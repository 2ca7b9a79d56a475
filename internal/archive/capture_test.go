package archive_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 800_000_000, time.UTC)

// capture makes the capture of one exchange from its parts on the wire.
func capture(url, header, body string) archive.Capture {
	raw := strings.ReplaceAll(header, "\n", "\r\n") + "\r\n"
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: url, IP: "192.0.2.7", Started: epoch, Elapsed: 42 * time.Millisecond,
			Status: 200, HeaderBytes: int64(len(raw)), MIME: "text/html; charset=utf-8", Path: "SL", Via: "http://a.example/",
			Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200},
		},
		Request:  strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: Muninn/1.0\r\n\r\n"),
		Response: func() io.Reader { return strings.NewReader(raw + body) },
		Header:   func() io.Reader { return strings.NewReader(raw) },
		Body:     func() io.Reader { return strings.NewReader(body) },
	}
	_, _ = fmt.Sscanf(header, "HTTP/1.1 %d", &c.Status)
	c.Outcome.Status = c.Status
	return c
}

func htmlHeader(more string, size int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\n%sContent-Length: %d\n", more, size)
}

func plain(url, body string) archive.Capture { return capture(url, htmlHeader("", len(body)), body) }

// everything is a batch with a capture of every kind, in the order in which they are archived.
func everything(t testing.TB) (pages []archive.Capture, dns archive.Capture) {
	t.Helper()
	dns = capture("dns:a.example", "", "")
	answer := "20260304050607\na.example.\t300\tIN\tA\t192.0.2.7\n"
	dns.Kind, dns.MIME, dns.Via = crawl.ExchangeDNS, "text/dns", ""
	dns.Response = func() io.Reader { return strings.NewReader(answer) }

	rules := "User-agent: *\nDisallow: /secret\n"
	robots := capture("http://a.example/robots.txt", "HTTP/1.1 200 OK\nContent-Type: text/plain\n", rules)
	robots.Kind, robots.MIME, robots.Path = crawl.ExchangeRobots, "text/plain", "SP"
	robotsAgain := robots
	robotsAgain.URL, robotsAgain.Request = "http://b.a.example/robots.txt", strings.NewReader("GET /robots.txt HTTP/1.1\r\nHost: b.a.example\r\n\r\n")

	packed := fixture.Gzip("<p>gzip as it came")
	zip := capture("http://a.example/gzip", htmlHeader("Content-Encoding: gzip\n", len(packed)), packed)
	zip.Encoding = "gzip"

	chunks := "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n"
	chunked := capture("http://a.example/chunked", "HTTP/1.1 200 OK\nContent-Type: text/html\nTransfer-Encoding: chunked\n", chunks)
	chunked.Chunked = true

	first := plain("http://a.example/first", "<p>the same on two pages")
	second := plain("http://a.example/second", "<p>the same on two pages")
	second.Started = epoch.Add(2 * time.Second)
	old := plain("http://a.example/old", "<p>known from an earlier crawl")

	unmodified := capture("http://a.example/304", "HTTP/1.1 304 Not Modified\nETag: \"new\"\n", "")
	unmodified.Outcome.Kind, unmodified.MIME = crawl.OutcomeUnmodified, ""
	unmodified.Outcome.Visit = crawl.Visit{
		ETag: "\"new\"", LastModified: "Wed, 04 Mar 2026 05:00:00 GMT", Digest: "sha1:PAM2EISPGQM5H3SVAXYF6QJEYM47CPHZ",
		URL: "http://a.example/first", Date: epoch,
	}

	cut := capture("http://a.example/cut", "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 1000\n", "<p>only so much")
	cut.Truncated = "length"
	missing := capture("http://a.example/missing", "HTTP/1.1 404 Not Found\nContent-Type: text/html\nContent-Length: 3\n", "no\n")
	moved := capture("http://a.example/moved", "HTTP/1.1 301 Moved Permanently\nLocation: /\nContent-Length: 0\n", "")
	moved.Location, moved.MIME = "/", ""
	empty := plain("http://a.example/empty", "")
	emptyToo := plain("http://a.example/empty-too", "")
	retried := capture("http://a.example/busy", "HTTP/1.1 503 Service Unavailable\nRetry-After: 5\nContent-Length: 0\n", "")
	retried.Outcome.Kind, retried.Outcome.Reason = crawl.OutcomeRetry, "503\nService Unavailable"
	picture := capture("http://a.example/p.png?a=1&b=%20c", "HTTP/1.1 200 OK\nContent-Type: image/png\n", "\x89PNG\r\n\x1a\n\x00\x01\x02")
	picture.MIME = "image/png"

	page := plain("http://a.example/page", "<p>a page with all that a page can have")
	page.Page = &crawl.Judged{Verdict: crawl.Verdict{Score: 0.75, Links: []crawl.LinkVerdict{{Score: 0.5}, {}, {}}}}
	page.Page.Findings = crawl.Findings{
		Application: "wordpress", Level: "post", Rule: "wp-1",
		Objects: []crawl.Object{{Type: "post", Properties: crawl.Properties{{Name: "author", Value: "Ä. Müller"}, {Name: "body", Value: "two\n\nlines  and: a colon"}}}},
	}
	page.Page.Page = crawl.Page{
		URL: page.URL, Status: 200, Title: "A title\r\n over  two lines", Language: "en", Charset: "utf-8",
		Blocks: []string{"first block", "the paragraph\nof the link"},
		Links: []crawl.Outlink{
			{URL: "http://a.example/next", Hop: crawl.HopLink, Context: "a/@href", Anchor: "next", Block: 1},
			{URL: "http://b.example/x?y=z&w", Hop: crawl.HopEmbed, Context: "img/@src", Block: -1},
			{URL: "http://c.example/", Hop: crawl.HopLink, Block: 99, Anchor: "\u2028 odd \x00 text"},
		},
	}
	return []archive.Capture{
		robots, robotsAgain, zip, chunked, first, second, old, unmodified, cut, missing, moved, empty, emptyToo, retried, picture, page,
	}, dns
}

func label(batch string) archive.Label {
	return archive.Label{
		Crawl: "c", Batch: batch, Worker: "w1", Operator: "An Archive", Agent: "Muninn/1.0 (+https://example.org/)",
		Software: "Muninn test", Description: "a\nb",
	}
}

func unknown(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false }

// segment makes a segment of captures; it is closed with the test.
func segment(t testing.TB, batch string, original func(string, string) (crawl.Visit, bool), captures ...archive.Capture) (*archive.Segment, []archive.Recorded) {
	t.Helper()
	s, err := archive.NewSegment(t.TempDir(), label(batch), epoch, original)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var recorded []archive.Recorded
	for _, c := range captures {
		r, err := s.Add(c)
		if err != nil {
			t.Fatalf("add %s: %v", c.URL, err)
		}
		recorded = append(recorded, r)
	}
	return s, recorded
}

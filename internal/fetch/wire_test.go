package fetch

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestWireIsKeptAsItCame: the emitted exchange is byte for byte what the server sent.
func TestWireIsKeptAsItCame(t *testing.T) {
	big := strings.Repeat("raven ", 50_000)
	zip := fixture.Gzip(big)
	tests := []struct {
		name    string
		before  string // interim responses
		wire    string // the final response
		after   string // junk behind it
		then    string
		body    string
		reused  bool // the connection serves the next request too
		chunked bool
	}{
		{name: "content-length", wire: page("200 OK", "hello", "Content-Type: text/html"), body: "hello", reused: true},
		{name: "empty", wire: page("200 OK", ""), reused: true},
		{name: "204", wire: "HTTP/1.1 204 No Content\r\nX-A:  b \r\n\r\n", reused: true},
		{name: "101", wire: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raven\r\n\r\n"},
		{name: "odd header lines", wire: "HTTP/1.1 200 Very  Fine\r\nx-raven:1\r\nX-Raven:  two\t\r\nContent-Length:0\r\n\r\n", reused: true},
		{name: "header folded and bare line feeds", wire: "HTTP/1.1 200 OK\nX-Long: a\n  b\nContent-Length: 2\n\nok", body: "ok", reused: true},
		{name: "large", wire: page("200 OK", big), body: big, reused: true},
		{
			name: "chunked with extensions and trailers", chunked: true, reused: true,
			wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5;a=b\r\nhello\r\n006\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n",
			body: "5;a=b\r\nhello\r\n006\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n",
		},
		{
			name: "chunked in many small pieces", chunked: true, reused: true,
			wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", 20_000) + "0\r\n\r\n",
			body: strings.Repeat("1\r\nx\r\n", 20_000) + "0\r\n\r\n",
		},
		{name: "close-delimited", wire: "HTTP/1.1 200 OK\r\n\r\nuntil the end", then: "close", body: "until the end"},
		{name: "HTTP/1.0", wire: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", body: "ok"},
		{name: "connection: close", wire: page("200 OK", "ok", "Connection: close"), body: "ok"},
		{name: "interim responses", before: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", wire: page("200 OK", "hints"), body: "hints", reused: true},
		{name: "junk behind the body", wire: page("200 OK", "ok"), after: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", body: "ok"},
		{name: "gzip", wire: page("200 OK", zip, "Content-Encoding: gzip"), body: zip, reused: true},
		{name: "an error page", wire: page("404 Not Found", "no such page"), body: "no such page", reused: true},
		{name: "a redirect is not followed", wire: page("302 Found", "", "Location: /b"), reused: true},
	}
	for _, test := range tests {
		for _, memory := range []crawl.Bytes{1 << 20, 64, 0} { // in memory, over its edge, on disk
			t.Run(test.name+"/"+memory.String(), func(t *testing.T) {
				t.Parallel()
				h := newHost(t, func(s seen) answer {
					switch s.path {
					case "/a":
						return answer{wire: test.before + test.wire + test.after, then: test.then}
					case "/b":
						return answer{wire: page("200 OK", "next")}
					}
					return answer{}
				})
				c := newClient(t, h.clock, func(o *Options) { o.Limits.MemoryBytes = memory })
				r := h.fetch(t, c, "/a", "/b")
				if r.err != nil {
					t.Fatal(r.err)
				}
				x := r.pages[0]
				if x.response != test.wire {
					t.Errorf("response\n%.300q, want\n%.300q", x.response, test.wire)
				}
				if got := x.response[x.HeaderBytes:]; got != test.body {
					t.Errorf("body %.200q, want %.200q", got, test.body)
				}
				if x.Truncated != "" || x.Chunked != test.chunked {
					t.Errorf("truncated %q, chunked %v", x.Truncated, x.Chunked)
				}
				if o := r.outcome(t, h.url("/a")); o.Kind != crawl.OutcomeDone || o.Bytes != int64(len(x.response)+len(x.request)) {
					t.Errorf("outcome %+v", o)
				}
				if got := r.pages[1].response; got != page("200 OK", "next") {
					t.Errorf("next response %q", got)
				}
				log := h.log()
				if x.request != log[1].raw {
					t.Errorf("request kept as %q, was %q", x.request, log[1].raw)
				}
				if reused := log[1].conn == log[2].conn; reused != test.reused {
					t.Errorf("connection reused: %v, want %v", reused, test.reused)
				}
			})
		}
	}
}

func TestTruncation(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	tests := []struct {
		name   string
		a      answer
		change func(*Limits)
		want   string
		kind   crawl.OutcomeKind
		min    int // bytes of body kept
		max    int
	}{
		{"length", answer{wire: page("200 OK", body)}, func(l *Limits) { l.BodyBytes = 40_000 }, "length", crawl.OutcomeDone, 40_000, 40_000},
		{"length of a close-delimited body", answer{wire: "HTTP/1.1 200 OK\r\n\r\n" + body, then: "close"}, func(l *Limits) { l.BodyBytes = 40_000 }, "length", crawl.OutcomeDone, 40_000, 40_000},
		{"just long enough", answer{wire: page("200 OK", body)}, func(l *Limits) { l.BodyBytes = 100_000 }, "", crawl.OutcomeDone, 100_000, 100_000},
		{"time", answer{wire: page("200 OK", body), drip: 5 * time.Millisecond}, func(l *Limits) { l.Total = seconds(3) }, "time", crawl.OutcomeDone, 1, 1000},
		{"disconnect", answer{wire: page("200 OK", body)[:50_000], then: "close"}, nil, "disconnect", crawl.OutcomeRetry, 40_000, 50_000},
		{"reset", answer{wire: page("200 OK", body)[:50_000], then: "reset"}, nil, "disconnect", crawl.OutcomeRetry, 0, 50_000},
		{"bad chunk", answer{wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\nabc", then: "close"}, nil, "disconnect", crawl.OutcomeRetry, 8, 20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, func(s seen) answer {
				if s.path == "/a" {
					return test.a
				}
				return answer{}
			})
			c := newClient(t, h.clock, func(o *Options) {
				if test.change != nil {
					test.change(&o.Limits)
				}
			})
			r := h.fetch(t, c, "/a")
			x := r.pages[0]
			if x.Truncated != test.want || x.Outcome.Kind != test.kind {
				t.Errorf("truncated %q, outcome %+v; want %q, %s", x.Truncated, x.Outcome, test.want, test.kind)
			}
			if x.response != "" || test.min > 0 {
				if n := len(x.response) - int(x.HeaderBytes); n < test.min || n > test.max {
					t.Errorf("%d bytes of body kept, want %d to %d", n, test.min, test.max)
				}
			}
			if !strings.HasPrefix(test.a.wire, x.response) {
				t.Errorf("kept what was not sent: %.100q", x.response)
			}
			// at its last attempt what came is archived as it is
			last := crawl.Target{URL: h.url("/a"), Attempts: c.limits.MaxAttempts - 1}
			r = h.run(t, c, nil, last)
			if o := r.outcome(t, last.URL); o.Kind != crawl.OutcomeDone && r.pages[0].response != "" {
				t.Errorf("last attempt: %+v", o)
			}
			if got := r.pages[0].Truncated; got != test.want {
				t.Errorf("last attempt: truncated %q, want %q", got, test.want)
			}
		})
	}
}

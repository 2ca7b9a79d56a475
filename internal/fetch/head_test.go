package fetch

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestFaultyHeaders: what browsers show is kept as it came, with what is wrong about it; what may be read in two ways is
// kept and fails.
func TestFaultyHeaders(t *testing.T) {
	const body = "<p>page"
	ok := "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, wire, fault string
		failed            bool
		then              string
	}{
		{"no colon", ok + "no colon here\r\nContent-Length: 7\r\n\r\n" + body, "a header line without a colon", false, ""},
		{"no name", ok + ": x\r\nContent-Length: 7\r\n\r\n" + body, "a header line without a name", false, ""},
		{"bad name", ok + "X-äö@(): 1\r\nContent-Length: 7\r\n\r\n" + body, "characters that names do not have", false, ""},
		{"status line twice", ok + ok + "Content-Length: 7\r\n\r\n" + body, "without a colon", false, ""},
		{"first line folded", ok + " Content-Type: text/html\r\nContent-Length: 7\r\n\r\n" + body, "begins with a blank", false, ""},
		{"equal lengths", ok + "Content-Length: 7, 7\r\n\r\n" + body, "several values of Content-Length", false, ""},
		{"equal lengths in two fields", ok + "Content-Length: 7\r\nContent-Length: 7\r\n\r\n" + body, "several values of Content-Length", false, ""},
		{"negative length", ok + "Content-Length: -5\r\n\r\n" + body, "Content-Length is \"-5\"", false, "close"},
		{"length beyond 64 bits", ok + "Content-Length: 99999999999999999999999\r\n\r\n" + body, "Content-Length is", false, "close"},
		{"identity", ok + "Transfer-Encoding: identity\r\nContent-Length: 7\r\n\r\n" + body, "Transfer-Encoding is \"identity\"", false, ""},
		{"unknown transfer coding", ok + "Transfer-Encoding: gzip\r\n\r\n" + body, "Transfer-Encoding is \"gzip\"", false, "close"},
		{"control characters", ok + "Location: /a\x01b\r\nContent-Length: 7\r\n\r\n" + body, "control characters in Location", false, ""},
		{"blank before the colon", ok + "Content-Length : 7\r\n\r\n" + body, "", false, ""},
		{"NUL", ok + "X: a\x00b\r\nContent-Length: 7\r\n\r\n" + body, "a NUL in the header", true, ""},
		{"unequal lengths", ok + "Content-Length: 7\r\nContent-Length: 9\r\n\r\n" + body, "two unequal values of Content-Length", true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, func(s seen) answer {
				switch s.path {
				case "/a":
					return answer{wire: test.wire, then: test.then}
				case "/b":
					return answer{wire: page("200 OK", "next")}
				}
				return answer{}
			})
			r := h.fetch(t, newClient(t, h.clock, nil), "/a", "/b")
			x := r.pages[0]
			want := crawl.OutcomeDone
			if test.failed {
				want = crawl.OutcomeFailed
			}
			if x.Outcome.Kind != want || x.Outcome.Status != 200 || !strings.Contains(x.Fault, test.fault) || (test.fault == "") != (x.Fault == "") {
				t.Errorf("%+v, fault %q", x.Outcome, x.Fault)
			}
			if test.fault != "" && !strings.Contains(x.Outcome.Reason, test.fault) {
				t.Errorf("the reason is %q", x.Outcome.Reason)
			}
			if x.response != test.wire || !strings.HasSuffix(x.response[x.HeaderBytes:], body) || x.response[x.HeaderBytes:] != body {
				t.Errorf("kept %q", x.response)
			}
			if got := r.pages[1].response; got != page("200 OK", "next") {
				t.Errorf("the next response is %q", got)
			}
		})
	}
}

// TestRobotsWithFaultyHeader: rules are obeyed; a file that may be read in two ways disallows.
func TestRobotsWithFaultyHeader(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /half\n"
	for wire, open := range map[string]string{
		page("200 OK", rules, "no colon"): crawl.OutcomeDone,
		page("200 OK", rules, "X: \x00"):  crawl.OutcomeRetry,
	} {
		h := robotsHost(t, fixed(wire))
		r := h.fetch(t, newClient(t, h.clock, nil), "/open", "/half")
		if o := r.outcome(t, h.url("/open")); o.Kind != open {
			t.Errorf("%q: /open %+v", wire, o)
		}
		if o := r.outcome(t, h.url("/half")); o.Kind == crawl.OutcomeDone {
			t.Errorf("%q: /half %+v", wire, o)
		}
	}
}

// TestBareAnswer: a text without any header is a page, on the usual ports.
func TestBareAnswer(t *testing.T) {
	for at, want := range map[string]bool{"http://a.example/": true, "https://a.example/": true, "http://a.example:8080/": false} {
		if got := bareAllowed(&Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: at}}); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	if bareAllowed(&Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeRobots, URL: "http://a.example/robots.txt"}}) {
		t.Error("a robots.txt without a header is read")
	}
	for sent, ok := range map[string]bool{"<html><p>page": true, "plain text": true, "\x00\x16\x03binary": false, "": false} {
		c := newClient(t, nil, nil)
		x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: "http://a.example/"}}
		_, err := c.send(&connection{Conn: &script{rest: strings.NewReader(sent)}}, x, seconds(60).D(), 100)
		if (err == nil) != ok || ok && (x.Size != int64(len(sent)) || x.HeaderBytes != 0 || x.Status != 200 || x.Fault == "") {
			t.Errorf("%q: %+v, %v", sent, x.Exchange, err)
		}
		x.Close()
	}
}

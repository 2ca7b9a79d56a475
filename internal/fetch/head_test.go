package fetch

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestFaultyHeaders: a faulty response that browsers show is archived unchanged, with its fault. A response that can be read in two
// ways is archived, and its URL fails.
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
		{"a CR in the status line", "HTTP/1.1 200 OK\rContent-Type: text/html\r\r<p>\n\n" + body, "a CR within the status line", false, "close"},
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

// TestNoStatus: an answer whose status is not one of HTTP is archived completely, and is no page.
func TestNoStatus(t *testing.T) {
	for code, status := range map[string]int{"99": 99, "000": 0, "7": 7, "2000": 0, "-200": 0, "OK": 0, "": 0} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			wire := "HTTP/1.1 " + code + " Odd\r\nContent-Length: 7\r\n\r\n<p>page"
			h := newHost(t, func(s seen) answer {
				if s.path == "/a" {
					return answer{wire: wire}
				}
				return answer{}
			})
			x := h.fetch(t, newClient(t, h.clock, nil), "/a").pages[0]
			if x.Outcome.Kind != crawl.OutcomeFailed || x.Status != status || !strings.Contains(x.Outcome.Reason, "is not a status of HTTP") {
				t.Errorf("%+v", x.Exchange)
			}
			if x.response != wire || x.Truncated != "" || x.response[x.HeaderBytes:] != "<p>page" {
				t.Errorf("kept %q, %d bytes of header, truncated %q", x.response, x.HeaderBytes, x.Truncated)
			}
			robots := robotsHost(t, fixed(wire)) // says nothing of what is allowed
			if o := robots.fetch(t, newClient(t, robots.clock, nil), "/a").outcome(t, robots.url("/a")); o.Kind != crawl.OutcomeRetry {
				t.Errorf("with it as robots.txt: %+v", o)
			}
		})
	}
}

// TestHeaderWithoutEnd: if the connection ends within a header, the part that came is archived. Lines that end in CR alone are such a
// header. The last line may be incomplete, and does not count.
func TestHeaderWithoutEnd(t *testing.T) {
	tests := []struct {
		name, wire, fault, mime string
		ok                      bool
	}{
		{"CR alone", "HTTP/1.1 200 OK\rContent-Type: text/html\r\r<p>page", "its lines end in CR alone", "text/html", true},
		{"CR alone, no reason", "HTTP/1.1 200\rContent-Type: text/html\r\r<p>page", "its lines end in CR alone", "text/html", true},
		{"cut off", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: a", "the connection ended within the header", "text/html", true},
		{"cut off in a field", "HTTP/1.1 301 Moved\r\nLocation: /nex", "the connection ended within the header", "", true},
		{"cut off in the status line", "HTTP/1.1 20", "", "", false},
		{"an interim response", "HTTP/1.1 103 Early Hints\r\n", "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, func(s seen) answer {
				if s.path == "/a" {
					return answer{wire: test.wire, then: "close"}
				}
				return answer{}
			})
			c := newClient(t, h.clock, nil)
			if o := h.fetch(t, c, "/a").outcome(t, h.url("/a")); o.Kind != crawl.OutcomeRetry {
				t.Errorf("at the first try: %+v", o)
			}
			last := crawl.Target{URL: h.url("/a"), Attempts: c.limits.MaxAttempts - 1}
			x := h.run(t, c, nil, last).pages[0]
			switch {
			case !test.ok:
				if x.Outcome.Kind != crawl.OutcomeFailed || x.response != "" {
					t.Errorf("%+v, kept %q", x.Outcome, x.response)
				}
			case x.Outcome.Kind != crawl.OutcomeFailed || !strings.Contains(x.Outcome.Reason, test.fault) || x.Truncated != "disconnect" || x.Location != "":
				t.Errorf("%+v", x.Exchange)
			case x.response != test.wire || x.HeaderBytes != 0 || x.MIME != test.mime:
				t.Errorf("kept %q, %d bytes of header, of type %q", x.response, x.HeaderBytes, x.MIME)
			}
			robots := robotsHost(t, func(seen) answer { return answer{wire: test.wire, then: "close"} })
			if o := robots.fetch(t, newClient(t, robots.clock, nil), "/a").outcome(t, robots.url("/a")); o.Kind != crawl.OutcomeRetry {
				t.Errorf("with it as robots.txt: %+v", o)
			}
		})
	}
}

// TestRobotsWithFaultyHeader: the rules are obeyed; a file that can be read in two ways disallows everything.
func TestRobotsWithFaultyHeader(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /half\n"
	for wire, open := range map[string]crawl.OutcomeKind{
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

// TestBareAnswer: a text without a header is a page on the usual ports; one that begins like SHOUTcast is a page on all ports.
func TestBareAnswer(t *testing.T) {
	for at, want := range map[string]lenience{
		"http://a.example/": {true, true, true}, "https://a.example/": {bare: true},
		"http://a.example:8080/": {icy: true, cut: true}, "https://a.example:8443/": {},
	} {
		x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: at}}
		if got := lenienceFor(x, false); got != want {
			t.Errorf("%s: %+v", at, got)
		}
		if got := lenienceFor(x, true); got != (lenience{cut: want.cut}) {
			t.Errorf("%s on a connection that was used: %+v", at, got)
		}
		if x.Kind = crawl.ExchangeRobots; lenienceFor(x, false) != (lenience{}) {
			t.Errorf("%s: a robots.txt without a header is read", at)
		}
	}
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: "icy 200 OK\r\nicy-name: Radio\r\n\r\n\xff\xfb\x90\x00\x01\x02", then: "close"}
	})
	x := h.fetch(t, newClient(t, h.clock, func(o *Options) { o.Limits.ConnectionIdle = 0 }), "/a").pages[0]
	if x.Outcome.Kind != crawl.OutcomeDone || x.HeaderBytes != 0 || !strings.Contains(x.Fault, "SHOUTcast") || !strings.HasPrefix(x.response, "icy 200") {
		t.Errorf("SHOUTcast: %+v, kept %q", x.Exchange, x.response)
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

// TestBytesOfHeaders: what is not ASCII in a Location or Refresh is escaped as it came, whatever encoding it is in, and survives any encoding of the
// exchange.
func TestBytesOfHeaders(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"Location: /ziel-\xe4": "/ziel-%E4", "Location: /ziel-ä": "/ziel-%C3%A4", "Refresh: 0; url=/\xe4": "0; url=/%E4"} {
		h := newHost(t, func(s seen) answer {
			if s.path == "/a" {
				return answer{wire: page("302 Found", "", field)}
			}
			return answer{}
		})
		x := h.fetch(t, newClient(t, h.clock, nil), "/a").pages[0]
		if got := x.Location + x.Refresh; got != want {
			t.Errorf("%q is %q, want %q", field, got, want)
		}
	}
}

// TestRobotsTag: each X-Robots-Tag is a line, for it says for whom it is.
func TestRobotsTag(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/a" {
			return answer{wire: page("200 OK", "next", "X-Robots-Tag: otherbot: nofollow, noarchive", "x-robots-tag: noindex")}
		}
		return answer{}
	})
	if x := h.fetch(t, newClient(t, h.clock, nil), "/a").pages[0]; x.RobotsTag != "otherbot: nofollow, noarchive\nnoindex" {
		t.Errorf("%q", x.RobotsTag)
	}
}

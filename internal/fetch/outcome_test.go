package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestFailures: each failure gives one outcome now and another at the last attempt. The next target is
// fetched nevertheless, unless the whole host fails.
func TestFailures(t *testing.T) {
	good := page("200 OK", "good")
	tests := []struct {
		name        string
		a           answer
		now, last   crawl.OutcomeKind
		reason      string
		after       crawl.OutcomeKind // kind of the next target, done if empty
		wantPayload bool              // the response is kept
	}{
		{name: "never answers", a: answer{then: "hang"}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "read the response"},
		{name: "hangs up", a: answer{then: "close"}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "read the response"},
		{name: "resets", a: answer{then: "reset"}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "read the response"},
		{name: "header breaks off", a: answer{wire: "HTTP/1.1 200 OK\r\nContent-Le", then: "close"}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "ended within the header", wantPayload: true},
		{name: "garbage", a: answer{wire: "\x00\x16 SSH-2.0\r\n\r\n", then: "close"}, now: crawl.OutcomeFailed, last: crawl.OutcomeFailed, reason: "not HTTP/1.1"},
		{name: "header too long", a: answer{wire: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n"}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "header_bytes"},
		{name: "endless interim responses", a: answer{wire: strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20_000)}, now: crawl.OutcomeRetry, last: crawl.OutcomeFailed, reason: "header_bytes"},
		{name: "500", a: answer{wire: page("500 Oops", "sorry")}, now: crawl.OutcomeRetry, last: crawl.OutcomeDone, wantPayload: true},
		{name: "503", a: answer{wire: page("503 Busy", "busy")}, now: crawl.OutcomeRetry, last: crawl.OutcomeDone, wantPayload: true, after: crawl.OutcomeReturned},
		{name: "429", a: answer{wire: page("429 Slow down", "", "Retry-After: 7")}, now: crawl.OutcomeRetry, last: crawl.OutcomeDone, wantPayload: true, after: crawl.OutcomeReturned},
		{name: "404", a: answer{wire: page("404 Not Found", "no")}, now: crawl.OutcomeDone, last: crawl.OutcomeDone, wantPayload: true},
		{name: "cut off in the body", a: answer{wire: good[:len(good)-1], then: "close"}, now: crawl.OutcomeRetry, last: crawl.OutcomeDone, wantPayload: true},
	}
	for _, test := range tests {
		for _, last := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				h := newHost(t, func(s seen) answer {
					switch s.path {
					case "/fault":
						return test.a
					case "/after":
						return answer{wire: good}
					}
					return answer{}
				})
				c := newClient(t, h.clock, silent(h))
				want, attempts := test.now, 0
				if last {
					want, attempts = test.last, c.limits.MaxAttempts-1
				}
				r := h.run(t, c, nil, crawl.Target{URL: h.url("/fault"), Attempts: attempts}, crawl.Target{URL: h.url("/after")})
				if r.err != nil {
					t.Fatal(r.err)
				}
				o := r.outcome(t, h.url("/fault"))
				if o.Kind != want || !strings.Contains(o.Reason, test.reason) {
					t.Errorf("outcome %+v, want %s with %q", o, want, test.reason)
				}
				if o.Kind == crawl.OutcomeRetry && !o.After.After(h.clock.now()) {
					t.Errorf("retry after %s, which is now", o.After)
				}
				if (r.pages[0].response != "") != test.wantPayload {
					t.Errorf("response kept: %.100q", r.pages[0].response)
				}
				after := crawl.OutcomeDone
				if test.after != "" {
					after = test.after
				}
				if o := r.outcome(t, h.url("/after")); o.Kind != after {
					t.Errorf("next target: %+v, want %s", o, after)
				}
			})
		}
	}
}

func TestHostDown(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{} })
	a, b := h.url("/a"), h.url("/b")
	_ = h.ln.Close()
	for failures, want := range []crawl.OutcomeKind{crawl.OutcomeReturned, crawl.OutcomeReturned, crawl.OutcomeReturned, crawl.OutcomeFailed} {
		r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) { l.Failures = failures }, targets(a, b)...)
		if r.err != nil || !r.Unreachable || !r.Next.After(h.clock.now()) {
			t.Errorf("%d failures before: %+v, %v", failures, r.Ending, r.err)
		}
		for _, u := range []string{a, b} {
			if o := r.outcome(t, u); o.Kind != want || !strings.Contains(o.Reason, "cannot be reached") {
				t.Errorf("%d failures before: %+v, want %s", failures, o, want)
			}
		}
	}
}

func TestRefusedAddress(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "secret")} })
	c := newClient(t, h.clock, func(o *Options) { o.Guard = guard(t) })
	r := h.fetch(t, c, "/a", "/b")
	for _, path := range []string{"/a", "/b"} {
		if o := r.outcome(t, h.url(path)); o.Kind != crawl.OutcomeRefused {
			t.Errorf("%s: %+v", path, o)
		}
	}
	if n := len(h.log()); n != 0 {
		t.Errorf("%d requests to a refused address", n)
	}
	if _, err := c.Address(t.Context(), "127.0.0.1"); !errors.As(err, new(*RefusedError)) {
		t.Errorf("Address: %v", err)
	}
}

func TestUntriedTargetsGoBack(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/a" {
			return answer{then: "close"}
		}
		return answer{}
	})
	c := newClient(t, h.clock, nil)
	moved := "http://127.9.9.9:1/moved"
	r := h.run(t, c, nil, targets("ftp://a/", moved, h.url("/a"))...)
	for u, want := range map[string]crawl.OutcomeKind{"ftp://a/": crawl.OutcomeFailed, moved: crawl.OutcomeReturned, h.url("/a"): crawl.OutcomeRetry} {
		if o := r.outcome(t, u); o.Kind != want {
			t.Errorf("%s: %+v, want %s", u, o, want)
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		switch {
		case s.path == "/robots.txt":
			return answer{}
		case s.header.Get("If-None-Match") == `"v1"` || s.header.Get("If-Modified-Since") == "Sat, 21 Nov 2026 08:00:00 GMT":
			return answer{wire: "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"}
		}
		return answer{wire: page("200 OK", "new", `ETag: "v2"`, "Last-Modified: Sun, 22 Nov 2026 08:00:00 GMT")}
	})
	c := newClient(t, h.clock, nil)
	tests := []struct {
		name     string
		previous crawl.Visit
		want     crawl.OutcomeKind
		etag     string
	}{
		{"first visit", crawl.Visit{}, crawl.OutcomeDone, `"v2"`},
		{"same ETag", crawl.Visit{ETag: `"v1"`, Digest: "sha1:X"}, crawl.OutcomeUnmodified, `"v1"`},
		{"same date", crawl.Visit{LastModified: "Sat, 21 Nov 2026 08:00:00 GMT", Digest: "sha1:X"}, crawl.OutcomeUnmodified, `"v1"`},
		{"other ETag", crawl.Visit{ETag: `"v0"`, Digest: "sha1:X"}, crawl.OutcomeDone, `"v2"`},
		{"304 without an original to refer to", crawl.Visit{ETag: `"v1"`}, crawl.OutcomeDone, `"v1"`},
		{"header injection", crawl.Visit{ETag: "\"v1\"\r\nX-Evil: 1", Digest: "sha1:X"}, crawl.OutcomeDone, `"v2"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := h.run(t, c, nil, crawl.Target{URL: h.url("/a"), Previous: test.previous})
			if o := r.outcome(t, h.url("/a")); o.Kind != test.want || o.Visit.ETag != test.etag {
				t.Errorf("%+v, want %s with ETag %s", o, test.want, test.etag)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("secure " + r.URL.Path))
	}))
	t.Cleanup(s.Close)
	addr := netip.MustParseAddr("127.0.0.1")
	for _, verify := range []bool{false, true} {
		k := &clock{}
		c := newClient(t, k, func(o *Options) { o.VerifyTLS = verify })
		var r run
		var err error
		r.Ending, err = c.Run(t.Context(), newLane(addr, &r, targets(s.URL+"/a", s.URL+"/b")...))
		if err != nil {
			t.Fatal(err)
		}
		if verify {
			if o := r.outcome(t, s.URL+"/a"); o.Kind != crawl.OutcomeReturned || !r.Unreachable || !strings.Contains(o.Reason, "certificate") {
				t.Errorf("unknown certificate: %+v", o)
			}
			continue
		}
		x := r.pages[1]
		if x.Outcome.Kind != crawl.OutcomeDone || !strings.HasSuffix(x.response, "secure /b") || !strings.HasPrefix(x.TLS, "TLS 1.3 ") {
			t.Errorf("%+v", x)
		}
	}
}

// TestCancelled: a lane whose context ends finishes the current exchange if that ends soon, and else closes the
// connection. An exchange that the lane itself has cut off gives no outcome for its target.
func TestCancelled(t *testing.T) {
	hello := page("200 OK", "hello")
	tests := []struct {
		name  string
		a     answer
		grace time.Duration
		pages int
	}{
		{"before the header", answer{then: "hang"}, time.Millisecond, 0},
		{"within the body", answer{wire: hello[:40], then: "hang"}, time.Millisecond, 0},
		{"in time", answer{wire: hello, drip: time.Millisecond}, time.Minute, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := newHost(t, func(s seen) answer {
				if s.path == "/robots.txt" {
					return answer{}
				}
				cancel()
				return test.a
			})
			c := newClient(t, h.clock, nil)
			c.grace = test.grace
			var out run
			ended := make(chan error, 1)
			go func() {
				_, err := c.Run(ctx, newLane(h.addr(), &out, targets(h.url("/a"), h.url("/b"))...))
				ended <- err
			}()
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) || len(out.pages) != test.pages {
					t.Errorf("%v, outcomes %+v", err, out.pages)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("the lane continues two minutes after its context has ended")
			}
		})
	}
}

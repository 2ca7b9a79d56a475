package fetch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// gaps are the pauses between the requests that a host saw.
func (h *host) gaps() (list []time.Duration) {
	log := h.log()
	for i := 1; i < len(log); i++ {
		list = append(list, log[i].at.Sub(log[i-1].at))
	}
	return list
}

// TestEveryGapIsKept: the next request to a host comes after the delay, whatever the outcome of the last one.
func TestEveryGapIsKept(t *testing.T) {
	ok := page("200 OK", "page")
	tests := []struct {
		name   string
		answer func(seen) answer
		want   time.Duration
	}{
		{"all is well", func(seen) answer { return answer{wire: ok} }, 2 * time.Second},
		{"the connection is closed every time", func(seen) answer { return answer{wire: ok, then: "close"} }, 2 * time.Second},
		{"reset", func(seen) answer { return answer{wire: ok[:20], then: "reset"} }, 2 * time.Second},
		{"hang-up", func(seen) answer { return answer{then: "close"} }, 2 * time.Second},
		{"garbage", func(seen) answer { return answer{wire: "nonsense\r\n\r\n", then: "close"} }, 2 * time.Second},
		{"silence", func(seen) answer { return answer{then: "hang"} }, 2 * time.Second},
		{"500", func(seen) answer { return answer{wire: page("500 Oops", "")} }, 2 * time.Second},
		{"stale", func(s seen) answer { // every other request on a connection meets a hang-up
			if s.nth == 1 && strings.HasPrefix(s.path, "/stale") {
				return answer{then: "close"}
			}
			return answer{wire: ok}
		}, 2 * time.Second},
		{"Crawl-delay", func(s seen) answer {
			if s.path == "/robots.txt" {
				return answer{wire: page("200 OK", "User-agent: *\nCrawl-delay: 10\n")}
			}
			return answer{wire: ok}
		}, 10 * time.Second},
		{"Crawl-delay above the cap", func(s seen) answer {
			if s.path == "/robots.txt" {
				return answer{wire: page("200 OK", "User-agent: *\nCrawl-delay: 100000\n")}
			}
			return answer{wire: ok}
		}, 120 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, func(s seen) answer {
				if a := test.answer(s); s.path != "/robots.txt" || strings.Contains(a.wire, "User-agent") {
					return a
				}
				return answer{}
			})
			c := newClient(t, h.clock, nil)
			if test.name == "silence" { // a request that the client no longer waits for is read late: the clock waits for that
				h.late = true
				c = newClient(t, h.clock, silent(h))
			}
			sent := 0
			h.clock.before = func() {
				for test.name == "silence" && len(h.log()) < sent && t.Context().Err() == nil {
					time.Sleep(time.Millisecond)
				}
			}
			var next time.Time
			for range 2 { // a later lane begins when the earlier one says it may
				r := h.run(t, c, func(l *Lane) {
					l.NotBefore = next
					l.LogIntent = func(crawl.Exchange) error { sent++; return nil }
				}, targets(h.url("/a"), h.url("/stale1"), h.url("/b"), h.url("/stale2"))...)
				if r.err != nil {
					t.Fatal(r.err)
				}
				next = r.Next
			}
			if h.clock.before(); len(h.log()) < 8 {
				t.Errorf("only %d requests", len(h.log()))
			}
			for i, gap := range h.gaps() {
				log := h.log()
				if gap < test.want || gap > test.want+30*time.Second {
					t.Errorf("%s after %s, on connection %d: a gap of %s, want %s", log[i+1].path, log[i].path, log[i+1].conn, gap, test.want)
				}
			}
		})
	}
}

func TestSlowHostsGetLongerPauses(t *testing.T) {
	tests := []struct {
		response, want time.Duration
	}{
		{0, 2 * time.Second}, {time.Second, 2 * time.Second}, {5 * time.Second, 10 * time.Second}, {time.Hour, 30 * time.Second},
	}
	for _, test := range tests {
		now := time.Unix(1000, 0)
		p := pace{politeness: pausesForTest()}
		p.requestEnded(now, test.response)
		if got := p.next().Sub(now); got != test.want {
			t.Errorf("after a response of %s a pause of %s, want %s", test.response, got, test.want)
		}
	}
}

func TestStaleConnectionIsTriedAgainOnce(t *testing.T) {
	for name, broken := range map[string]answer{"hang-up": {then: "close"}, "leftovers": {wire: "rest of the last body\r\n\r\n", then: "close"}} {
		h := newHost(t, func(s seen) answer {
			if s.path == "/b" && s.nth == 1 {
				return broken
			}
			if s.path == "/robots.txt" {
				return answer{}
			}
			return answer{wire: page("200 OK", s.path)}
		})
		c := newClient(t, h.clock, nil)
		var intents int
		r := h.run(t, c, func(l *Lane) {
			l.LogIntent = func(crawl.Exchange) error { intents++; return nil }
		}, targets(h.url("/a"), h.url("/b"), h.url("/c"))...)
		for _, path := range []string{"/a", "/b", "/c"} {
			if o := r.outcome(t, h.url(path)); o.Kind != crawl.OutcomeDone {
				t.Errorf("%s: %s: %+v", name, path, o)
			}
		}
		if log := h.log(); len(log) != 5 || intents != 5 {
			t.Errorf("%s: %d requests, %d announced; want 5", name, len(log), intents)
		}
	}
}

// TestIdleConnectionIsNotReused: after a longer pause than connection_idle a new connection is opened.
func TestIdleConnectionIsNotReused(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("200 OK", "User-agent: *\nCrawl-delay: 40\n")}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	h.fetch(t, newClient(t, h.clock, nil), "/a", "/b")
	for i, s := range h.log() {
		if s.conn != i+1 {
			t.Errorf("request %d came over connection %d", i, s.conn)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"", 0}, {"7", 7 * time.Second}, {" 120 ", 2 * time.Minute}, {"-5", 0}, {"soon", 0}, {"1.5", 0},
		{"99999999999999", 1e6 * time.Second}, {"999999999999999999999999", 1e6 * time.Second}, {"-999999999999999999999999", 0},
		{"Sat, 21 Nov 2026 08:01:00 GMT", time.Minute}, {"Saturday, 21-Nov-26 08:01:00 GMT", time.Minute},
		{"Sat Nov 21 08:01:00 2026", time.Minute}, {"Fri, 20 Nov 2026 08:01:00 GMT", 0},
	}
	for _, test := range tests {
		x := &Exchange{Header: http.Header{"Retry-After": {test.value}}}
		if got := x.retryAfter(now); got != test.want {
			t.Errorf("%q: %s, want %s", test.value, got, test.want)
		}
	}
	for _, ahead := range []time.Duration{-2 * time.Minute, 2 * time.Minute} { // of the host's clock
		x := &Exchange{Header: http.Header{
			"Date": {now.Add(ahead).UTC().Format(http.TimeFormat)}, "Retry-After": {now.Add(ahead + time.Minute).UTC().Format(http.TimeFormat)},
		}}
		if got := x.retryAfter(now); got != time.Minute {
			t.Errorf("with a clock ahead by %s: %s", ahead, got)
		}
	}
}

// TestHostAsksToWait: the lane stops, its other targets go back unchanged, and no request is made before the time.
func TestHostAsksToWait(t *testing.T) {
	tests := []struct {
		name   string
		path   string // which answers so
		wire   func(now time.Time) string
		want   time.Duration
		others crawl.OutcomeKind

		trouble politeness.Trouble
	}{
		{"429 with seconds", "/a", func(time.Time) string { return page("429 Slow", "", "Retry-After: 600") }, 10 * time.Minute, crawl.OutcomeReturned, "429"},
		{"503 with a date", "/a", func(now time.Time) string {
			return page("503 Busy", "", "Retry-After: "+now.Add(10*time.Minute+time.Second).UTC().Format(http.TimeFormat))
		}, 10 * time.Minute, crawl.OutcomeReturned, "503"},
		{"503 without", "/a", func(time.Time) string { return page("503 Busy", "") }, time.Minute, crawl.OutcomeReturned, "503"},
		{"a day is too long", "/a", func(time.Time) string { return page("429 Slow", "", "Retry-After: 86400") }, time.Hour, crawl.OutcomeReturned, "429"},
		{"robots.txt answers 429", "/robots.txt", func(time.Time) string { return page("429 Slow", "", "Retry-After: 600") }, 10 * time.Minute, crawl.OutcomeRetry, "429"},
		{"robots.txt answers 503", "/robots.txt", func(time.Time) string { return page("503 Busy", "", "Retry-After: 1200") }, 20 * time.Minute, crawl.OutcomeRetry, "503"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h *host
			h = newHost(t, func(s seen) answer {
				switch {
				case s.path == test.path && s.nth == 1:
					return answer{wire: test.wire(h.clock.now())}
				case s.path == "/robots.txt":
					return answer{}
				}
				return answer{wire: page("200 OK", s.path)}
			})
			c := newClient(t, h.clock, nil)
			r := h.fetch(t, c, "/a", "/b", "/c")
			if r.Trouble != test.trouble {
				t.Errorf("trouble %q, want %q", r.Trouble, test.trouble)
			}
			if o := r.outcome(t, h.url("/a")); o.Kind != crawl.OutcomeRetry || o.After.IsZero() {
				t.Errorf("/a: %+v", o)
			}
			for _, path := range []string{"/b", "/c"} {
				if o := r.outcome(t, h.url(path)); o.Kind != test.others {
					t.Errorf("%s: %+v, want %s", path, o, test.others)
				}
			}
			before := len(h.log())
			if test.path == "/robots.txt" { // is not asked for again before that
				h.clock.advance(c.limits.RobotsRetry.D() + time.Second)
			}
			h.run(t, c, func(l *Lane) { l.NotBefore = r.Next }, targets(h.url("/b"))...)
			if log := h.log(); len(log) > before && log[before].at.Sub(log[before-1].at) < test.want {
				t.Errorf("asked again after %s, want %s", log[before].at.Sub(log[before-1].at), test.want)
			} else if len(log) == before {
				t.Error("not asked again")
			}
		})
	}
}

// TestLeaseEnds: a request is not sent if the lease ends before its time.
func TestLeaseEnds(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: page("200 OK", "")}
	})
	end := h.clock.now().Add(75 * time.Second) // robots.txt at 0, /a at 30, /b at 60, later by what the machine takes
	r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Politeness.MinDelay = seconds(30)
		l.ValidUntil = func() time.Time { return end }
	}, targets(h.url("/a"), h.url("/b"), h.url("/c"), h.url("/d"))...)
	for path, want := range map[string]crawl.OutcomeKind{"/a": crawl.OutcomeDone, "/b": crawl.OutcomeDone, "/c": crawl.OutcomeReturned, "/d": crawl.OutcomeReturned} {
		if o := r.outcome(t, h.url(path)); o.Kind != want {
			t.Errorf("%s: %+v, want %s", path, o, want)
		}
	}
	for _, s := range h.log() {
		if s.at.After(end) {
			t.Errorf("%s was asked for after the lease", s.path)
		}
	}
}

// TestLeaseEndsInThePause: if a lease ends while the lane waits for the host's next time, no request is sent, because another lane may
// hold the address by then.
func TestLeaseEndsInThePause(t *testing.T) {
	h := newHost(t, delaying)
	valid := h.clock.now().Add(time.Hour)
	c := newClient(t, h.clock, func(o *Options) {
		o.Sleep = func(ctx context.Context, until time.Time) error {
			if until.After(h.clock.now()) {
				valid = time.Time{}
			}
			return h.clock.sleep(ctx, until)
		}
	})
	r := h.run(t, c, func(l *Lane) {
		l.ValidUntil = func() time.Time { return valid }
		l.LeaseUntil = func() time.Time { return h.clock.now().Add(time.Hour) } // so that nothing but ValidUntil stops the request
	}, targets(h.url("/a"))...)
	if o := r.outcome(t, h.url("/a")); o.Kind != crawl.OutcomeReturned {
		t.Errorf("%+v", o)
	}
	if log := h.log(); len(log) != 1 {
		t.Errorf("%d requests, want robots.txt alone", len(log))
	}
}

func TestOwnErrorsEndTheLane(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: page("200 OK", strings.Repeat("x", 1000))}
	})
	full := errors.New("disk full")
	tests := map[string]struct {
		options func(*Options)
		lane    func(*Lane)
	}{
		"intent": {lane: func(l *Lane) { l.LogIntent = func(crawl.Exchange) error { return full } }},
		"body":   {options: func(o *Options) { o.TempDir, o.Limits.MemoryBytes = "/nowhere/at/all", 10 }},
	}
	for name, test := range tests {
		r := h.run(t, newClient(t, h.clock, test.options), test.lane, targets(h.url("/a"), h.url("/b"))...)
		if !isFatal(r.err) || len(r.pages) != 0 {
			t.Errorf("%s: error %v, outcomes %+v; want a failure of the disk and none", name, r.err, r.pages)
		}
	}
}

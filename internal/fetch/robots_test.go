package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/urls"
)

// robotsHost answers good pages and the given robots.txt.
func robotsHost(t *testing.T, robots func(seen) answer) *host {
	t.Helper()
	return newHost(t, func(s seen) answer {
		if strings.HasPrefix(s.path, "/robots") {
			return robots(s)
		}
		return answer{wire: page("200 OK", "page")}
	})
}

func fixed(wire string) func(seen) answer { return func(seen) answer { return answer{wire: wire} } }

func hops(n int, final string) func(seen) answer {
	return func(s seen) answer {
		at := 0
		if s.path != "/robots.txt" {
			_, _ = fmt.Sscanf(s.path, "/robots-%d", &at)
		}
		if at < n {
			return answer{wire: page("301 Moved", "", fmt.Sprintf("Location: /robots-%d", at+1))}
		}
		return answer{wire: final}
	}
}

func TestRobots(t *testing.T) {
	closed := page("200 OK", "User-agent: *\nDisallow: /\n")
	half := page("200 OK", "User-agent: *\nDisallow: /half\n")
	long := "User-agent: *\nDisallow: /half\n" + strings.Repeat("# comment\n", 60_000)
	tests := []struct {
		name   string
		robots func(seen) answer
		open   crawl.OutcomeKind // outcome of /open, done if empty
		half   crawl.OutcomeKind // outcome of /half
		asked  int               // requests for robots.txt
	}{
		{name: "404", robots: fixed(noRobots), asked: 1},
		{name: "403", robots: fixed(page("403 Forbidden", "no")), asked: 1},
		{name: "empty", robots: fixed(page("200 OK", "")), asked: 1},
		{name: "half", robots: fixed(half), half: crawl.OutcomeRobots, asked: 1},
		{name: "half, gzipped", robots: fixed(page("200 OK", fixture.Gzip("User-agent: *\nDisallow: /half\n"), "Content-Encoding: gzip")), half: crawl.OutcomeRobots, asked: 1},
		{name: "half, chunked", robots: fixed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\nUser-agent: *\nDisallow: /half\n\r\n0\r\n\r\n"), half: crawl.OutcomeRobots, asked: 1},
		{name: "longer than is read", robots: fixed(page("200 OK", long)), half: crawl.OutcomeRobots, asked: 1},
		{name: "closed", robots: fixed(closed), open: crawl.OutcomeRobots, half: crawl.OutcomeRobots, asked: 1},
		{name: "closed to another", robots: fixed(page("200 OK", "User-agent: Huginn\nDisallow: /\n")), asked: 1},
		{name: "closed to us", robots: fixed(page("200 OK", "User-agent: muninn\nDisallow: /\n\nUser-agent: *\nDisallow:\n")), open: crawl.OutcomeRobots, half: crawl.OutcomeRobots, asked: 1},
		{name: "500", robots: fixed(page("500 Oops", "")), open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "429", robots: fixed(page("429 Slow", "")), open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "hang-up", robots: func(seen) answer { return answer{then: "close"} }, open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "silence", robots: func(seen) answer { return answer{then: "hang"} }, open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "no HTTP", robots: func(seen) answer { return answer{wire: "Disallow: /\n\n", then: "close"} }, open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "cut off", robots: func(seen) answer { return answer{wire: half[:len(half)-10], then: "close"} }, open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "one redirect", robots: hops(1, half), half: crawl.OutcomeRobots, asked: 2},
		{name: "five redirects", robots: hops(5, half), half: crawl.OutcomeRobots, asked: 6},
		{name: "six redirects", robots: hops(6, closed), asked: 6},
		{name: "redirect to a 500", robots: hops(2, page("500 Oops", "")), open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 3},
		{name: "redirect to another address", robots: fixed(page("301 Moved", "", "Location: http://127.9.9.9:1/robots.txt")), open: crawl.OutcomeRetry, half: crawl.OutcomeRetry, asked: 1},
		{name: "redirect to nowhere", robots: fixed(page("301 Moved", "", "Location: gopher://x")), asked: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := robotsHost(t, test.robots)
			c := newClient(t, h.clock, silent(h))
			for round := range 2 { // the second finds the rules in the cache
				r := h.fetch(t, c, "/open", "/half")
				if r.err != nil {
					t.Fatal(r.err)
				}
				for path, want := range map[string]crawl.OutcomeKind{"/open": test.open, "/half": test.half} {
					if want == "" {
						want = crawl.OutcomeDone
					}
					if o := r.outcome(t, h.url(path)); o.Kind != want {
						t.Errorf("%s: %+v, want %s", path, o, want)
					}
				}
				asked := test.asked * (1 - round)
				if x := r.robots(); len(x) > asked || round == 1 && len(x) > 0 {
					t.Errorf("round %d: %d robots exchanges kept, want %d", round, len(x), asked)
				}
			}
			asked := 0
			for _, s := range h.log() {
				if strings.HasPrefix(s.path, "/robots") {
					asked++
				} else if (s.path == "/half" && test.half != "") || (s.path == "/open" && test.open != "") {
					t.Errorf("%s was asked for", s.path)
				}
			}
			if asked != test.asked {
				t.Errorf("robots.txt was asked for %d times, want %d", asked, test.asked)
			}
		})
	}
}

// TestRobotsPolicies: what a crawl fetches though robots.txt disallows it; robots.txt is asked for in any case.
func TestRobotsPolicies(t *testing.T) {
	const all = "/open /half /half/a.css /half/a.woff /half/x"
	for _, test := range []struct{ policy, wire, done, disallowed string }{
		{"", page("200 OK", "User-agent: *\nDisallow: /half\n"), "/open", ""},
		{crawl.RobotsObey, page("200 OK", "User-agent: *\nDisallow: /half\n"), "/open", ""},
		{crawl.RobotsRequisites, page("200 OK", "User-agent: *\nDisallow: /half\n"), "/open /half/a.css /half/a.woff", "/half/a.css /half/a.woff"},
		{crawl.RobotsIgnore, page("200 OK", "User-agent: *\nDisallow: /half\n"), all, "/half /half/a.css /half/a.woff /half/x"},
		{crawl.RobotsRequisites, page("500 Oops", ""), "", ""},
		{crawl.RobotsIgnore, page("500 Oops", ""), all, all},
	} {
		h := robotsHost(t, fixed(test.wire))
		r := h.run(t, newClient(t, h.clock, silent(h)), func(l *Lane) { l.Robots = test.policy },
			crawl.Target{URL: h.url("/open"), Path: "SL"}, crawl.Target{URL: h.url("/half"), Path: "SL"}, crawl.Target{URL: h.url("/half/a.css"), Path: "SLE"},
			crawl.Target{URL: h.url("/half/a.woff"), Path: "2@9+SLERER"}, crawl.Target{URL: h.url("/half/x"), Path: "SLEL"})
		var done, disallowed []string
		for _, x := range r.pages {
			if x.Outcome.Kind == crawl.OutcomeDone {
				done = append(done, strings.TrimPrefix(x.URL, h.url("")))
			}
			if x.Disallowed {
				disallowed = append(disallowed, strings.TrimPrefix(x.URL, h.url("")))
			}
		}
		if got := strings.Join(done, " "); r.err != nil || got != test.done || strings.Join(disallowed, " ") != test.disallowed || len(r.robots()) != 1 {
			t.Errorf("%q: fetched %s, disallowed %s, %d robots.txt, %v", test.policy, got, disallowed, len(r.robots()), r.err)
		}
	}
}

// TestRobotsElsewhere follows robots.txt to another address only with a borrowed lease.
func TestRobotsElsewhere(t *testing.T) {
	const half = "User-agent: *\nDisallow: /half\n"
	other := newHostAt(t, "127.0.0.2", fixed(page("200 OK", half)))
	tests := []struct {
		name   string
		borrow error
		open   crawl.OutcomeKind
		half   crawl.OutcomeKind
		kept   int
	}{
		{"borrowed", nil, crawl.OutcomeDone, crawl.OutcomeRobots, 2},
		{"busy", &BusyError{"its address is busy"}, crawl.OutcomeReturned, crawl.OutcomeReturned, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+other.url("/robots.txt"))))
			var asked netip.Addr
			var next time.Time
			r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
				l.Borrow = func(_ context.Context, _ urls.URL, addr netip.Addr, _ time.Time) (Loan, error) {
					asked = addr
					return Loan{Until: h.clock.now().Add(time.Hour), Return: func(t time.Time) { next = t }}, test.borrow
				}
			}, targets(h.url("/open"), h.url("/half"))...)
			if r.err != nil || asked.String() != "127.0.0.2" {
				t.Fatalf("asked for %s: %v", asked, r.err)
			}
			if got := r.outcome(t, h.url("/open")); got.Kind != test.open {
				t.Errorf("/open: %+v, want %s", got, test.open)
			}
			if got := r.outcome(t, h.url("/half")); got.Kind != test.half {
				t.Errorf("/half: %+v, want %s", got, test.half)
			}
			if len(r.robots()) != test.kept {
				t.Fatalf("%d robots.txt kept, want %d", len(r.robots()), test.kept)
			}
			if borrowed := test.borrow == nil; borrowed && !next.After(r.robots()[1].Started) {
				t.Errorf("the loan was given back with %s as the next time", next)
			}
		})
	}
}

// TestRobotsElsewhereHaveADelay: the Crawl-delay in a robots.txt also holds for the host that it was redirected to, even if it could
// not be fetched some time before.
func TestRobotsElsewhereHaveADelay(t *testing.T) {
	other := newHostAt(t, "127.0.0.2", func(s seen) answer {
		if s.nth == 1 {
			return answer{wire: page("500 Oops", "")}
		}
		return answer{wire: page("200 OK", "User-agent: *\nCrawl-delay: 20\n")}
	})
	h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+other.url("/robots.txt"))))
	h.clock = other.clock
	c := newClient(t, h.clock, nil)
	if got := other.fetch(t, c, "/a").outcome(t, other.url("/a")); got.Kind != crawl.OutcomeRetry {
		t.Fatalf("%+v", got)
	}
	var next time.Time
	var delay time.Duration
	r := h.run(t, c, func(l *Lane) {
		l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
			return Loan{
				Until: h.clock.now().Add(time.Hour), Return: func(time.Time) {},
				KeepRest: func(t time.Time) { next = t }, KeepDelay: func(d time.Duration) error { delay = d; return nil },
			}, nil
		}
	}, targets(h.url("/open"))...)
	if asked := r.robots()[1].Started; r.err != nil || delay != 20*time.Second || next.Before(asked.Add(delay)) {
		t.Errorf("asked at %s, it rests until %s, with a delay of %s: %v", asked, next, delay, r.err)
	}
}

// TestRobotsOfARestingHost: if robots.txt is on a resting host, no target loses an attempt, and the rules stay unknown.
func TestRobotsOfARestingHost(t *testing.T) {
	const rest = 10 * time.Minute
	other := newHostAt(t, "127.0.0.2", fixed(page("200 OK", "User-agent: *\nDisallow: /half\n")))
	tests := []struct {
		name   string
		borrow func(now time.Time) (Loan, error)
		rest   time.Duration // of our own host
	}{
		{"it cannot be borrowed", func(now time.Time) (Loan, error) { return Loan{}, &RestsError{now.Add(rest)} }, rest},
		{"for longer than the loan", func(now time.Time) (Loan, error) {
			return Loan{NotBefore: now.Add(rest), Until: now.Add(time.Minute), Return: func(time.Time) {}}, nil
		}, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+other.url("/robots.txt"))))
			c := newClient(t, h.clock, nil)
			var next time.Time
			for range c.limits.MaxAttempts {
				var now time.Time
				r := h.run(t, c, func(l *Lane) {
					l.NotBefore = next
					l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
						now = h.clock.now()
						return test.borrow(now)
					}
				}, targets(h.url("/open"), h.url("/half"))...)
				for _, path := range []string{"/open", "/half"} {
					if got := r.outcome(t, h.url(path)); got.Kind != crawl.OutcomeReturned || got.After.Before(now.Add(test.rest)) {
						t.Errorf("%s: %+v, want it to go back until %s", path, got, now.Add(test.rest))
					}
				}
				if next = r.Next; next.Before(now.Add(test.rest)) {
					t.Errorf("the lane may come again at %s", next)
				}
			}
			r := h.run(t, c, func(l *Lane) {
				l.NotBefore = next
				l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
					return Loan{Until: h.clock.now().Add(time.Hour), Return: func(time.Time) {}}, nil
				}
			}, targets(h.url("/open"), h.url("/half"))...)
			if open, half := r.outcome(t, h.url("/open")), r.outcome(t, h.url("/half")); open.Kind != crawl.OutcomeDone || half.Kind != crawl.OutcomeRobots {
				t.Errorf("when it may be asked: %+v, %+v", open, half)
			}
		})
	}
}

// TestRobotsOfABusyHost: if robots.txt is on a busy host, no target loses an attempt. The lane comes again after a growing pause; in
// the end only the targets of that origin fail.
func TestRobotsOfABusyHost(t *testing.T) {
	other := newHostAt(t, "127.0.0.2", fixed(page("200 OK", "User-agent: *\nDisallow: /half\n")))
	open := newHost(t, fixed(page("200 OK", "")))
	tests := []struct {
		name   string
		borrow func(now time.Time) (Loan, error)
	}{
		{"it is asked by others", func(time.Time) (Loan, error) { return Loan{}, &BusyError{"its host is asked by another claim"} }},
		{"the loan is too short for its rest", func(now time.Time) (Loan, error) {
			return Loan{NotBefore: now.Add(time.Minute), Until: now.Add(3 * time.Second), Return: func(time.Time) {}}, nil
		}},
		{"its host rests for a moment, time and again", func(now time.Time) (Loan, error) { return Loan{}, &RestsError{now.Add(2 * time.Second)} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHost(t, func(s seen) answer {
				if s.path == "/robots.txt" {
					return answer{wire: page("301 Moved", "", "Location: "+other.url("/robots.txt"))}
				}
				return answer{wire: page("200 OK", "page")}
			})
			c := newClient(t, h.clock, nil)
			var next, now time.Time
			var unread map[string]int
			run := func() run {
				return h.run(t, c, func(l *Lane) {
					l.NotBefore, l.Unread = next, unread
					l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
						return test.borrow(h.clock.now())
					}
				}, targets(h.url("/a"), h.url("/b"), open.url("/c"))...)
			}
			for met := range maxUnread - 1 {
				r := run()
				now = h.clock.now()
				pause := min(c.limits.Backoff(met+1), c.limits.RobotsRetry.D()) - 5*time.Second
				for _, target := range []string{h.url("/a"), h.url("/b"), open.url("/c")} {
					if got := r.outcome(t, target); got.Kind != crawl.OutcomeReturned || got.After.Before(now.Add(pause)) {
						t.Fatalf("%s, try %d: %+v, want it to go back for %s", target, met+1, got, pause)
					}
				}
				if next, unread = r.Next, r.Unread; unread[h.origin()] != met+1 || r.Unreachable || next.Before(now.Add(pause)) {
					t.Fatalf("try %d: %+v at %s", met+1, r.Ending, now)
				}
			}
			r := run()
			for _, path := range []string{"/a", "/b"} {
				if got := r.outcome(t, h.url(path)); got.Kind != crawl.OutcomeFailed || !strings.Contains(got.Reason, "robots.txt lies at") {
					t.Errorf("at the last try %s: %+v", path, got)
				}
			}
			if got := r.outcome(t, open.url("/c")); got.Kind != crawl.OutcomeDone {
				t.Errorf("of another origin: %+v", got)
			}
			if len(r.Unread) != 1 {
				t.Errorf("the last try does not count: %+v", r.Ending)
			}
			if len(r.robots()) > 7 {
				t.Errorf("robots.txt was asked for once more for each target: %d exchanges", len(r.robots()))
			}
		})
	}
}

// TestRobotsExpire: rules are valid for a day, an unreachable robots.txt until its retry.
func TestRobotsExpire(t *testing.T) {
	broken := true
	h := robotsHost(t, func(seen) answer {
		if broken {
			return answer{wire: page("500 Oops", "")}
		}
		return answer{}
	})
	c := newClient(t, h.clock, nil)
	steps := []struct {
		wait  time.Duration
		want  crawl.OutcomeKind
		asked int
	}{
		{0, crawl.OutcomeRetry, 1},
		{c.limits.RobotsRetry.D() - time.Minute, crawl.OutcomeRetry, 1},
		{2 * time.Minute, crawl.OutcomeDone, 2},
		{23 * time.Hour, crawl.OutcomeDone, 2},
		{2 * time.Hour, crawl.OutcomeDone, 3},
	}
	for i, step := range steps {
		h.clock.advance(step.wait)
		r := h.fetch(t, c, "/a")
		if o := r.outcome(t, h.url("/a")); o.Kind != step.want {
			t.Errorf("step %d: %+v, want %s", i, o, step.want)
		}
		if n := h.paths["/robots.txt"]; n != step.asked {
			t.Errorf("step %d: robots.txt was asked for %d times, want %d", i, n, step.asked)
		}
		broken = false
	}
}

// TestBrokenRobotsAtTheLastAttempt: a target whose robots.txt was never read ends as refused by robots.txt.
func TestBrokenRobotsAtTheLastAttempt(t *testing.T) {
	h := robotsHost(t, fixed(page("502 Oops", "")))
	c := newClient(t, h.clock, nil)
	target := crawl.Target{URL: h.url("/a"), Attempts: c.limits.MaxAttempts - 1}
	if o := h.run(t, c, nil, target).outcome(t, target.URL); o.Kind != crawl.OutcomeRobots || !strings.Contains(o.Reason, "502") {
		t.Errorf("%+v", o)
	}
}

// TestLeaseEndsBeforeRobots: a lease that is too short for robots.txt does not make the host's rules unreachable.
func TestLeaseEndsBeforeRobots(t *testing.T) {
	h := robotsHost(t, fixed(noRobots))
	c := newClient(t, h.clock, nil)
	ended := func(l *Lane) { end := h.clock.now().Add(-time.Second); l.ValidUntil = func() time.Time { return end } }
	r := h.run(t, c, ended, targets(h.url("/a"), h.url("/b"))...)
	for _, path := range []string{"/a", "/b"} {
		if o := r.outcome(t, h.url(path)); o.Kind != crawl.OutcomeReturned {
			t.Errorf("%s: %+v, want returned", path, o)
		}
	}
	if n := len(h.log()); n != 0 {
		t.Errorf("%d requests without a lease", n)
	}
	if o := h.fetch(t, c, "/a").outcome(t, h.url("/a")); o.Kind != crawl.OutcomeDone {
		t.Errorf("with a lease: %+v", o)
	}
}

// TestRobotsThereAndBack: a redirect that leaves the address and comes back is followed to its end.
func TestRobotsThereAndBack(t *testing.T) {
	var back string
	other := newHostAt(t, "127.0.0.2", func(seen) answer { return answer{wire: page("302 Found", "", "Location: "+back)} })
	h := newHost(t, func(s seen) answer {
		switch s.path {
		case "/robots.txt":
			return answer{wire: page("302 Found", "", "Location: "+other.url("/consent"))}
		case "/robots-2.txt":
			return answer{wire: page("200 OK", "User-agent: *\nDisallow: /half\n")}
		}
		return answer{wire: page("200 OK", "page")}
	})
	back = h.url("/robots-2.txt")
	loans, returned := 0, 0
	r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Borrow = func(_ context.Context, _ urls.URL, addr netip.Addr, _ time.Time) (Loan, error) {
			loans++
			if addr == l.Addr {
				t.Error("the lane borrows its own address")
			}
			return Loan{Until: h.clock.now().Add(time.Hour), Return: func(time.Time) { returned++ }}, nil
		}
	}, targets(h.url("/open"), h.url("/half"))...)
	if r.err != nil || loans != 1 || returned != 1 {
		t.Fatalf("%d loans, %d returned: %v", loans, returned, r.err)
	}
	if got := r.outcome(t, h.url("/open")); got.Kind != crawl.OutcomeDone {
		t.Errorf("/open: %+v", got)
	}
	if got := r.outcome(t, h.url("/half")); got.Kind != crawl.OutcomeRobots {
		t.Errorf("/half: %+v", got)
	}
}

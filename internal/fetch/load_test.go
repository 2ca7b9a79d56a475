package fetch

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestOpen: a page is opened when its requisites, and what they need, are fetched, and before the next page; what it loads then has the pauses of the host, obeys robots.txt, and is
// at no address but the lane's without a loan.
func TestOpen(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("200 OK", "User-agent: *\nDisallow: /secret\n")}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	other := newHostAt(t, "127.0.0.2", func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("200 OK", "User-agent: *\nDisallow: /secret\n")}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	needs := map[string][]crawl.Target{h.url("/1"): targets(h.url("/a"), h.url("/b")), h.url("/a"): targets(h.url("/c"))}
	var order []string
	loans := 0
	got := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		emit := l.Emit
		l.Emit = func(ctx context.Context, x *Exchange) error {
			if x.Kind != crawl.ExchangeRobots && x.Kind != crawl.ExchangeDNS && x.Outcome.Kind == crawl.OutcomeDone {
				order = append(order, string(x.Kind)+x.URL[strings.LastIndexByte(x.URL, '/'):])
			}
			return emit(ctx, x)
		}
		l.Requisites = func(_ context.Context, of crawl.Target) ([]crawl.Target, error) { return needs[of.URL], nil }
		l.Unopened = []Unopened{{Page: targets(h.url("/0"))[0]}}
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			name := of.URL[strings.LastIndexByte(of.URL, '/'):]
			order = append(order, "open"+name)
			for _, ask := range []string{h.url(name + "x"), h.url("/secret"), other.url(name + "y"), other.url("/secret")} {
				err := load(ctx, crawl.Target{URL: ask, Via: of.URL, Path: "SE"})
				if refused := err != nil; refused != strings.HasSuffix(ask, "/secret") {
					t.Errorf("%s: %v", ask, err)
				}
			}
			return nil
		}
		l.Borrow = func(_ context.Context, at urls.URL, addr netip.Addr, until time.Time) (Loan, error) {
			if at.Host() != "127.0.0.2" || addr.String() != "127.0.0.2" {
				t.Errorf("borrowed %s at %s", at.Host(), addr)
			}
			loans++
			return Loan{Until: until, Return: func(time.Time) { loans-- }}, nil
		}
	}, targets(h.url("/1"), h.url("/2"))...)
	want := "open/0 loaded/0x loaded/0y page/1 page/a page/c page/b open/1 loaded/1x loaded/1y page/2 open/2 loaded/2x loaded/2y"
	if got.err != nil || strings.Join(order, " ") != want || loans != 0 {
		t.Errorf("%v, %d loans are left: %s", got.err, loans, strings.Join(order, " "))
	}
	last := time.Time{}
	for _, s := range h.log() {
		if least := pausesForTest().MinDelay.D(); !last.IsZero() && s.at.Sub(last) < least {
			t.Errorf("%s comes %s after the request before", s.path, s.at.Sub(last))
		}
		last = s.at
	}
	for _, x := range got.all {
		if x.Kind == crawl.ExchangeLoaded && x.Outcome.Kind != crawl.OutcomeRobots && (x.Outcome.Kind != crawl.OutcomeDone || x.Via == "" || x.Path != "SE" || x.Pause == 0 || !strings.Contains(x.response, "200 OK")) {
			t.Errorf("loaded: %+v", x)
		}
	}
}

// TestLoadBanned: what an operator bans while a page is open, and waits for its turn, is not asked for, neither at the lane's own host nor at one that it borrows.
func TestLoadBanned(t *testing.T) {
	answerAll := func(s seen) answer { return answer{wire: page("200 OK", s.path)} }
	h, other := newHost(t, answerAll), newHostAt(t, "127.0.0.2", answerAll)
	checked := map[string]int{}
	got := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Check = func(u urls.URL) error {
			if checked[u.String()]++; strings.HasSuffix(u.String(), "/banned") && checked[u.String()] > 1 {
				return &RefusedError{Reason: "it is banned"}
			}
			return nil
		}
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			for _, ask := range []string{h.url("/banned"), other.url("/banned")} {
				if err := load(ctx, crawl.Target{URL: ask, Via: of.URL, Path: "SE"}); err == nil || checked[ask] != 2 {
					t.Errorf("%s: %v, checked %d times", ask, err, checked[ask])
				}
			}
			return nil
		}
		l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
			return Loan{Until: until, Return: func(time.Time) {}}, nil
		}
	}, targets(h.url("/1"))...)
	for _, s := range append(h.log(), other.log()...) {
		if s.path == "/banned" {
			t.Error("it was asked for")
		}
	}
	if got.err != nil {
		t.Error(got.err)
	}
}

// TestLoadHoldsLoan: a page that is open asks for a URL at another host, and for its robots.txt, as long as it has the loan, and with the Crawl-delay of that robots.txt.
func TestLoadHoldsLoan(t *testing.T) {
	const delay = 10 * time.Second
	var loans atomic.Int32
	h := newHost(t, func(s seen) answer { return answer{wire: page("200 OK", s.path)} })
	other := newHostAt(t, "127.0.0.2", func(s seen) answer {
		if loans.Load() != 1 {
			t.Errorf("%s is asked for with %d loans", s.path, loans.Load())
		}
		if s.path == "/robots.txt" {
			return answer{wire: page("200 OK", "User-agent: *\nCrawl-delay: 10\n")}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	other.clock = h.clock
	var rest time.Time
	got := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			for _, path := range []string{"/x", "/y"} {
				if err := load(ctx, crawl.Target{URL: other.url(path), Via: of.URL, Path: "SE"}); err != nil || loans.Load() != 0 {
					t.Errorf("%s: %v, then %d loans are left", path, err, loans.Load())
				}
			}
			return nil
		}
		l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
			loans.Add(1)
			return Loan{NotBefore: rest, Until: until, KeepRest: func(next time.Time) { rest = next }, Return: func(time.Time) { loans.Add(-1) }}, nil
		}
	}, targets(h.url("/1"))...)
	asked, last := "", time.Time{}
	for _, s := range other.log() {
		if asked += s.path; !last.IsZero() && s.at.Sub(last) < delay {
			t.Errorf("%s comes %s after the request before", s.path, s.at.Sub(last))
		}
		last = s.at
	}
	if got.err != nil || asked != "/robots.txt/x/y" || rest.Before(last.Add(delay)) {
		t.Errorf("%v; asked for %s, the last %s before the rest ends", got.err, asked, rest.Sub(last))
	}
}

// TestLoadRobotsElsewhere: a page does not load from a host whose robots.txt leads to a third one: it has one loan at a time. A lane of that host follows the redirect then.
func TestLoadRobotsElsewhere(t *testing.T) {
	answerAll := func(s seen) answer { return answer{wire: page("200 OK", "")} }
	h, third := newHost(t, answerAll), newHostAt(t, "127.0.0.3", answerAll)
	var loans atomic.Int32
	other := newHostAt(t, "127.0.0.2", func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("301 Moved", "", "Location: "+third.url("/robots.txt"))}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	c := newClient(t, h.clock, nil)
	borrowed := 0
	borrows := func(l *Lane) {
		l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
			borrowed++
			loans.Add(1)
			return Loan{Until: until, Return: func(time.Time) { loans.Add(-1) }}, nil
		}
	}
	got := h.run(t, c, func(l *Lane) {
		borrows(l)
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			for _, path := range []string{"/x", "/y"} {
				if err := load(ctx, crawl.Target{URL: other.url(path), Via: of.URL, Path: "SE"}); err == nil {
					t.Errorf("%s is loaded", path)
				}
			}
			return nil
		}
	}, targets(h.url("/1"))...)
	if got.err != nil || borrowed != 1 || loans.Load() != 0 || len(other.log()) != 1 || len(third.log()) != 0 {
		t.Errorf("%v; borrowed %d times, %d loans are left, %d and %d requests", got.err, borrowed, loans.Load(), len(other.log()), len(third.log()))
	}
	got = other.run(t, c, borrows, targets(other.url("/x"))...)
	if o := got.outcome(t, other.url("/x")); o.Kind != crawl.OutcomeDone || len(third.log()) != 1 {
		t.Errorf("its own lane: %+v", o)
	}
}

// TestLoadBusy: a page waits once for a host that cannot be borrowed; the next page tries it again.
func TestLoadBusy(t *testing.T) {
	h := newHost(t, func(s seen) answer { return answer{wire: page("200 OK", s.path)} })
	other := newHostAt(t, "127.0.0.2", func(s seen) answer { return answer{wire: page("200 OK", s.path)} })
	tried := 0
	got := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			for _, path := range []string{"/x", "/y", "/z"} {
				if err := load(ctx, crawl.Target{URL: other.url(path), Via: of.URL, Path: "SE"}); err == nil {
					t.Errorf("%s is loaded", path)
				}
			}
			return nil
		}
		l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
			tried++
			return Loan{}, &BusyError{Reason: "another lane asks it"}
		}
	}, targets(h.url("/1"), h.url("/2"))...)
	if got.err != nil || tried != 2 {
		t.Errorf("%v; the pages have tried %d times", got.err, tried)
	}
}

// TestLoadRests: a host that answers a page that is open with 429 or 503, or takes no connection, is not asked by this page again, and rests; if it is the lane's own, the lane ends, whether
// it has fetched the page or an earlier attempt has.
func TestLoadRests(t *testing.T) {
	const back = 30 * time.Second
	serve := func(s seen) answer {
		switch s.path {
		case "/429":
			return answer{wire: page("429 Too Many", "")}
		case "/503":
			return answer{wire: page("503 Later", "", "Retry-After: 100")}
		}
		return answer{wire: page("200 OK", s.path)}
	}
	for _, c := range []struct {
		path              string
		elsewhere, before bool // it is asked of another host; an earlier attempt has fetched the page
		rest              time.Duration
		pages             int
	}{
		{"/429", false, false, back, 1}, {"/503", false, false, 100 * time.Second, 1}, {"/429", false, true, back, 0}, {"/429", true, false, back, 3}, {"", true, false, 0, 3},
	} {
		h, other := newHost(t, serve), newHostAt(t, "127.0.0.2", serve)
		asked := h
		if c.elsewhere {
			other.clock, asked = h.clock, other
		}
		if c.path == "" {
			_ = other.ln.Close()
		}
		var rest, began time.Time
		tried, opened := 0, 0
		got := h.run(t, newClient(t, h.clock, func(o *Options) { o.Limits.RetryBase = crawl.Duration(back) }), func(l *Lane) {
			if c.before {
				l.Unopened = []Unopened{{Page: targets(h.url("/0"))[0]}, {Page: targets(h.url("/00"))[0]}}
			}
			l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
				if opened++; opened > 1 {
					return nil
				}
				for i, path := range []string{c.path, "/x", "/y"} {
					if err := load(ctx, crawl.Target{URL: asked.url(path), Via: of.URL, Path: "SE"}); (err == nil) != (i == 0 && path != "") {
						t.Errorf("%+v: %s: %v", c, path, err)
					}
				}
				began = h.clock.now()
				return nil
			}
			l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
				tried++
				return Loan{Until: until, KeepRest: func(next time.Time) { rest = next }, Return: func(time.Time) {}}, nil
			}
		}, targets(h.url("/1"), h.url("/2"), h.url("/3"))...)
		if !c.elsewhere {
			rest = got.Next
			for _, path := range []string{"/1", "/2", "/3"}[c.pages:] {
				if o := got.outcome(t, h.url(path)); o.Kind != crawl.OutcomeReturned || o.After.Before(began.Add(c.rest-time.Second)) {
					t.Errorf("%+v: %s: %+v", c, path, o)
				}
			}
		}
		pages := 0
		for _, x := range got.all {
			if x.Kind == crawl.ExchangePage && x.Outcome.Kind == crawl.OutcomeDone {
				pages++
			}
		}
		if got.err != nil || pages != c.pages || opened != max(c.pages, 1) || rest.Before(began.Add(c.rest-time.Second)) || tried > 1 {
			t.Errorf("%+v: %v; %d pages, %d opened, the host rests %s, borrowed %d times", c, got.err, pages, opened, rest.Sub(began), tried)
		}
	}
}

// TestLoadFails: what a page that is open does not get has an exchange that says why, and an answer with a faulty header is kept as far as it came.
func TestLoadFails(t *testing.T) {
	faulty := "HTTP/1.1 200 OK\r\nX-Nul: a\x00b\r\nContent-Length: 1\r\n\r\nx"
	h := newHost(t, func(s seen) answer {
		switch s.path {
		case "/robots.txt":
			return answer{wire: page("200 OK", "User-agent: *\nDisallow: /secret\n")}
		case "/faulty":
			return answer{wire: faulty, then: "close"}
		case "/reset":
			return answer{then: "reset"}
		case "/silent":
			return answer{then: "hang"}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	other := newHostAt(t, "127.0.0.2", func(seen) answer { return answer{} })
	asks := []struct {
		url    string
		kind   crawl.OutcomeKind
		reason string
	}{
		{h.url("/secret"), crawl.OutcomeRobots, ErrDisallowed.Error()}, {h.url("/banned"), crawl.OutcomeRefused, "it is banned"},
		{h.url("/faulty"), crawl.OutcomeFailed, "the response's header is faulty: a NUL in the header"}, {h.url("/reset"), crawl.OutcomeFailed, ""}, {h.url("/silent"), crawl.OutcomeFailed, "timeout"},
		{other.url("/1"), crawl.OutcomeFailed, "another lane asks it"}, {other.url("/2"), crawl.OutcomeFailed, errLoadBusy.Error()}, {h.url("/late"), crawl.OutcomeFailed, "the page was closed before it came: context canceled"},
		{h.url("/well"), crawl.OutcomeDone, ""},
	}
	got := h.run(t, newClient(t, h.clock, silent(h)), func(l *Lane) {
		l.Check = func(u urls.URL) error {
			if strings.HasSuffix(u.String(), "/banned") {
				return &RefusedError{Reason: "it is banned"}
			}
			return nil
		}
		l.Open = func(ctx context.Context, of crawl.Target, load Load) error {
			for _, ask := range asks {
				within, cancel := context.WithCancel(ctx)
				if strings.HasSuffix(ask.url, "/late") {
					cancel()
				}
				if err := load(within, crawl.Target{URL: ask.url, Via: of.URL, Path: "SE"}); (err == nil) != (ask.kind == crawl.OutcomeDone) {
					t.Errorf("%s: %v", ask.url, err)
				}
				cancel()
			}
			return nil
		}
		l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
			return Loan{}, &BusyError{Reason: "another lane asks it"}
		}
	}, targets(h.url("/1"))...)
	var loaded []kept
	for _, x := range got.all {
		if x.Kind == crawl.ExchangeLoaded {
			loaded = append(loaded, x)
		}
	}
	if got.err != nil || len(loaded) != len(asks) {
		t.Fatalf("%v; %d exchanges for %d loads", got.err, len(loaded), len(asks))
	}
	for i, x := range loaded {
		want, o := asks[i], x.Outcome
		if x.URL != want.url || o.URL != want.url || o.Kind != want.kind || !strings.Contains(o.Reason, want.reason) || (o.Reason == "") != (o.Kind == crawl.OutcomeDone) || x.Via != h.url("/1") || x.Path != "SE" || x.Claim != "c" || x.Started.IsZero() {
			t.Errorf("%+v, want %+v", x.Exchange, want)
		}
		if answered := strings.HasSuffix(x.URL, "/faulty") || strings.HasSuffix(x.URL, "/well"); (x.response != "") != answered || (o.Bytes > 0) != answered {
			t.Errorf("%s: %d bytes, %q", x.URL, o.Bytes, x.response)
		}
		if strings.HasSuffix(x.URL, "/faulty") && (x.response != faulty || x.Truncated != "unspecified" || o.Bytes != int64(len(faulty)+len(x.request))) {
			t.Errorf("%+v, %q", x.Exchange, x.response)
		}
	}
}

package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestRobotsChainContinues: if each lane ends before the host may be asked again, the lanes together follow its redirects to the end, one
// hop in each lane. No hop is requested twice, and such a lane does not count as one that met a busy host.
func TestRobotsChainContinues(t *testing.T) {
	for seed := range uint64(5) {
		h := robotsHost(t, hops(3, page("200 OK", "User-agent: *\nCrawl-delay: 100\n")))
		c := newClient(t, h.clock, nil)
		random := rand.New(rand.NewPCG(seed, 0))
		var next time.Time
		met := map[string]int{h.origin(): maxUnread - 1}
		for batch := range 5 {
			left := 10*time.Second + time.Duration(random.Int64N(int64(80*time.Second)))
			r := h.run(t, c, func(l *Lane) {
				l.NotBefore, l.Delay, l.Unread = next, 100*time.Second, met
				until := times.Latest(h.clock.now(), next).Add(left)
				l.ValidUntil = func() time.Time { return until }
				l.LeaseUntil = func() time.Time { return until.Add(time.Hour) }
			}, targets(h.url("/a"))...)
			next = r.Next
			want, counted := crawl.OutcomeReturned, met
			if batch == 4 {
				want = crawl.OutcomeDone
			}
			if batch >= 3 { // its robots.txt is known
				counted = map[string]int{}
			}
			if got := r.outcome(t, h.url("/a")); got.Kind != want || !maps.Equal(r.Unread, counted) {
				t.Fatalf("seed %d, batch %d of %s: %+v, %v", seed, batch, left, got, r.Unread)
			}
		}
		for path, n := range h.paths {
			if n != 1 {
				t.Errorf("seed %d: %s was asked for %d times", seed, path, n)
			}
		}
	}
}

// TestRobotsChainOfTheOwnAddress: a lane that continues a chain of redirects at another host of its own address makes its first request
// there, but only when the address may be asked, which the loan of the host does not check.
func TestRobotsChainOfTheOwnAddress(t *testing.T) {
	other := newHost(t, fixed(noRobots))
	at := func(name string, h *host) string {
		return fmt.Sprintf("http://%s:%d", name, h.ln.Addr().(*net.TCPAddr).Port)
	}
	h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+at("two.example", other)+"/robots.txt")))
	other.clock = h.clock
	r, err := NewResolver(map[string]netip.Addr{"one.example": h.addr(), "two.example": h.addr()}, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, h.clock, func(o *Options) { o.Resolver = r })
	target := at("one.example", h) + "/a"
	const rest = 30 * time.Second // of the address, before the second lane
	var earliest time.Time
	for i, want := range []crawl.OutcomeKind{crawl.OutcomeReturned, crawl.OutcomeDone} {
		r := h.run(t, c, func(l *Lane) {
			l.NotBefore = earliest
			l.Borrow = func(_ context.Context, _ urls.URL, addr netip.Addr, _ time.Time) (Loan, error) {
				if i == 0 {
					return Loan{}, &BusyError{"busy"}
				}
				return Loan{Until: h.clock.now().Add(time.Hour), Return: func(time.Time) {}}, nil
			}
		}, crawl.Target{URL: target})
		if got := r.outcome(t, target); got.Kind != want {
			t.Fatalf("lane %d: %+v, want %s", i, got, want)
		}
		if i == 0 {
			earliest = h.clock.now().Add(rest)
		}
	}
	asked := other.log()
	if len(asked) != 1 {
		t.Fatalf("asked %d times, want once", len(asked))
	}
	if asked[0].at.Before(earliest) {
		t.Errorf("asked %s too early", earliest.Sub(asked[0].at))
	}
}

// TestRobotsChainToNowhere: if a lane continues a chain of redirects and finds nothing at its end, the next lane starts again.
func TestRobotsChainToNowhere(t *testing.T) {
	gone := newHost(t, fixed(noRobots))
	_ = gone.ln.Close()
	h := robotsHost(t, func(s seen) answer {
		if s.nth == 1 {
			return answer{wire: page("301 Moved", "", "Location: "+gone.url("/robots.txt"))}
		}
		return answer{wire: noRobots}
	})
	c := newClient(t, h.clock, nil)
	var next time.Time
	for i, want := range []crawl.OutcomeKind{crawl.OutcomeReturned, crawl.OutcomeReturned, crawl.OutcomeDone} {
		r := h.run(t, c, func(l *Lane) {
			l.NotBefore, l.Politeness.MinDelay = next, seconds(30)
			if until := h.clock.now().Add(15 * time.Second); i == 0 { // for the first request, and not for the second
				l.ValidUntil = func() time.Time { return until }
			}
		}, targets(h.url("/a"))...)
		next = r.Next
		if got := r.outcome(t, h.url("/a")); got.Kind != want {
			t.Errorf("lane %d: %+v, want %s", i, got, want)
		}
	}
}

// TestRobotsChainIsBounded: a lane waits MaxChain for all hosts of a chain of redirects together, and the next lane continues where it
// has ended.
func TestRobotsChainIsBounded(t *testing.T) {
	location := ""
	var others []*host
	for i := 6; i > 1; i-- {
		wire := page("200 OK", "User-agent: *\nDisallow: /half\n")
		if location != "" {
			wire = page("301 Moved", "", "Location: "+location)
		}
		others = append(others, newHostAt(t, fmt.Sprintf("127.0.0.%d", i), fixed(wire)))
		location = others[len(others)-1].url("/robots.txt")
	}
	h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+location)))
	c := newClient(t, h.clock, nil)
	var next time.Time
	for batch := 0; ; batch++ {
		begun := times.Latest(h.clock.now(), next)
		r := h.run(t, c, func(l *Lane) {
			l.NotBefore = next
			l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
				if until.After(begun.Add(MaxChain + time.Second)) {
					t.Errorf("batch %d: a loan until %s, %s after the beginning", batch, until, until.Sub(begun))
				}
				h.clock.advance(min(35*time.Second, until.Sub(h.clock.now())))
				return Loan{NotBefore: h.clock.now().Add(50 * time.Second), Until: h.clock.now().Add(time.Hour), Return: func(time.Time) {}}, nil
			}
		}, targets(h.url("/half"))...)
		next = r.Next
		took := h.clock.now().Sub(begun)
		if got := r.outcome(t, h.url("/half")); got.Kind == crawl.OutcomeRobots {
			break
		} else if got.Kind != crawl.OutcomeReturned || took > MaxChain+time.Second || batch > 5 {
			t.Fatalf("batch %d of %s: %+v", batch, took, got)
		}
	}
	for _, o := range append(others, h) {
		if n := o.paths["/robots.txt"]; n != 1 {
			t.Errorf("%s was asked %d times", o.url("/"), n)
		}
	}
}

// TestRobotsElsewhereInABatch: a lane that has borrowed a host continues although other lanes have ended, but not beyond the batch. A
// batch that is too short for the pause before the first request does not count against the other host.
func TestRobotsElsewhereInABatch(t *testing.T) {
	const rest = 30 * time.Second // of the other host
	other := newHostAt(t, "127.0.0.2", fixed(page("200 OK", "User-agent: *\nDisallow: /half\n")))
	for _, test := range []struct {
		name  string
		batch time.Duration
		busy  bool // until the batch ends
		want  crawl.OutcomeKind
		met   int // batches that count
	}{
		{"long", time.Minute, false, crawl.OutcomeRobots, 0},
		{"short", 10 * time.Second, false, crawl.OutcomeReturned, 0},
		{"short, and the host is busy", 10 * time.Second, true, crawl.OutcomeReturned, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+other.url("/robots.txt"))))
			r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
				valid, batch := h.clock.now().Add(5*time.Second), h.clock.now().Add(test.batch)
				l.ValidUntil, l.BatchUntil = func() time.Time { return valid }, func() time.Time { return batch }
				l.Borrow = func(_ context.Context, _ urls.URL, _ netip.Addr, until time.Time) (Loan, error) {
					if until.After(batch) {
						t.Errorf("a loan until %s, of a batch that ends at %s", until, batch)
					}
					if test.busy {
						h.clock.advance(until.Sub(h.clock.now()))
						return Loan{}, &BusyError{"its address is busy"}
					}
					return Loan{NotBefore: h.clock.now().Add(rest), Until: until, Return: func(time.Time) {}}, nil
				}
			}, targets(h.url("/half"))...)
			if got := r.outcome(t, h.url("/half")); got.Kind != test.want || r.Unread[h.origin()] != test.met {
				t.Errorf("%+v, %v, want %s, %d", got, r.Unread, test.want, test.met)
			}
		})
	}
}

// TestUnreadIsOfAnOrigin: only the batches that met an origin busy count against it, not those that met another one busy.
func TestUnreadIsOfAnOrigin(t *testing.T) {
	away := fixed(page("301 Moved", "", "Location: http://127.0.0.2/robots.txt"))
	one, two := newHost(t, away), newHost(t, away)
	origins := []string{originOf(crawl.Target{URL: one.url("/")}), originOf(crawl.Target{URL: two.url("/")})}
	r := one.run(t, newClient(t, one.clock, nil), func(l *Lane) {
		l.Unread = map[string]int{origins[0]: maxUnread - 1}
		l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
			return Loan{}, &BusyError{"busy"}
		}
	}, targets(one.url("/a"), two.url("/b"))...)
	if got := r.outcome(t, one.url("/a")); got.Kind != crawl.OutcomeFailed {
		t.Errorf("met busy %d times: %+v", maxUnread, got)
	}
	if got := r.outcome(t, two.url("/b")); got.Kind != crawl.OutcomeReturned {
		t.Errorf("met busy once: %+v", got)
	}
	if want := map[string]int{origins[0]: maxUnread, origins[1]: 1}; !maps.Equal(r.Unread, want) {
		t.Errorf("counted %v, want %v", r.Unread, want)
	}
}

// TestUnreadIsBounded: the number of counted origins is bounded, and those with the highest counts are kept.
func TestUnreadIsBounded(t *testing.T) {
	unread := countUnread(nil, "http://often.example", 7)
	for i := range 3 * maxUnreadOrigins {
		unread = countUnread(unread, fmt.Sprintf("http://%02d.example", i), 1)
	}
	if len(unread) != maxUnreadOrigins || unread["http://often.example"] != 7 {
		t.Errorf("%v", unread)
	}
}

// TestForgetRobotsChain: if the answer of any host of a chain is forgotten, the result of the chain is forgotten, too.
func TestForgetRobotsChain(t *testing.T) {
	other := newHostAt(t, "127.0.0.2", fixed(noRobots))
	h := robotsHost(t, fixed(page("301 Moved", "", "Location: "+other.url("/robots.txt"))))
	c := newClient(t, h.clock, nil)
	borrowing := func(loan Loan, err error) func(*Lane) {
		return func(l *Lane) {
			l.NotBefore = h.clock.now().Add(time.Hour)
			l.Borrow = func(context.Context, urls.URL, netip.Addr, time.Time) (Loan, error) {
				loan.Until, loan.Return = h.clock.now().Add(time.Hour), func(time.Time) {}
				return loan, err
			}
		}
	}
	asked := func(change func(*Lane), own, there int) {
		t.Helper()
		r := h.run(t, c, change, targets(h.url("/a"))...)
		if r.err != nil || h.paths["/robots.txt"] != own || other.paths["/robots.txt"] != there {
			t.Errorf("asked %d and %d times, want %d, %d: %v", h.paths["/robots.txt"], other.paths["/robots.txt"], own, there, r.err)
		}
	}
	forget := func(of *host) {
		c.Forget("", []crawl.Exchange{{Kind: crawl.ExchangeRobots, URL: of.url("/robots.txt")}})
	}
	busy := borrowing(Loan{}, &BusyError{"busy"})
	asked(busy, 1, 0)
	asked(busy, 1, 0) // it continues at the second hop
	forget(h)
	asked(busy, 2, 0)
	free := borrowing(Loan{}, nil)
	asked(free, 2, 1)
	asked(free, 2, 1)
	forget(other)
	asked(free, 3, 2)
	asked(borrowing(Loan{}, errors.New("not asked for")), 3, 2)
}

func (h *host) origin() string { return originOf(crawl.Target{URL: h.url("/")}) }

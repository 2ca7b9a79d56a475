package fetch

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// pages serves pages, and no robots.txt.
func pages(s seen) answer {
	if s.path == "/robots.txt" {
		return answer{}
	}
	return answer{wire: page("200 OK", "page")}
}

// when serves pages; /slow waits until a condition holds.
func when(t *testing.T, holds func() bool) func(seen) answer {
	return func(s seen) answer {
		for s.path == "/slow" && !holds() && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return pages(s)
	}
}

// An exchange is cut off when its lease ends, and its URL goes back untried.
func TestLeaseEndCutsTheExchange(t *testing.T) {
	for _, path := range []string{"/slow", "/robots.txt"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel() // for the lease is looked at every other second
			var end atomic.Pointer[time.Time]
			var lasts func(d time.Duration)
			h := newHost(t, func(s seen) answer {
				if s.path == path {
					lasts(50 * time.Millisecond) // the request has come: so its exchange is cut off, and no later one
					return answer{wire: page("200 OK", strings.Repeat("x", 10_000))[:5_000], then: "hang"}
				}
				return pages(s)
			})
			lasts = func(d time.Duration) { until := h.clock.now().Add(d); end.Store(&until) }
			lasts(time.Hour)
			r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
				l.ValidUntil = func() time.Time { return *end.Load() }
			}, targets(h.url("/slow"), h.url("/b"))...)
			if r.err != nil {
				t.Fatal(r.err)
			}
			for _, u := range []string{"/slow", "/b"} {
				if o := r.outcome(t, h.url(u)); o.Kind != crawl.OutcomeReturned || o.Reason != errLease.Error() {
					t.Errorf("the lease ends in %s: %s %+v, want returned", path, u, o)
				}
			}
			if last := h.log()[len(h.log())-1]; last.path != path {
				t.Errorf("%s was asked for after the lease", last.path)
			}
		})
	}
}

// A lease that is renewed in time does not cut off the exchange: the answer comes after the lease was checked several times.
func TestRenewedLeaseLasts(t *testing.T) {
	var looks atomic.Int64
	h := newHost(t, when(t, func() bool { return looks.Load() >= 8 })) // the first of them beside robots.txt
	r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.LeaseUntil = func() time.Time { looks.Add(1); return h.clock.now().Add(50 * time.Millisecond) }
	}, targets(h.url("/slow"), h.url("/b"))...)
	for _, u := range []string{"/slow", "/b"} {
		if o := r.outcome(t, h.url(u)); o.Kind != crawl.OutcomeDone {
			t.Errorf("%s: %+v", u, o)
		}
	}
}

// The opening of a connection is cut off when the lease ends, too, and does not count against the host.
func TestLeaseEndsWhileConnecting(t *testing.T) {
	h := newHost(t, pages)
	c := newClient(t, h.clock, func(o *Options) {
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	end := h.clock.now().Add(50 * time.Millisecond)
	r := h.run(t, c, func(l *Lane) { l.ValidUntil = func() time.Time { return end } }, targets(h.url("/a"))...)
	if o := r.outcome(t, h.url("/a")); o.Kind != crawl.OutcomeReturned || o.Reason != errLease.Error() || r.Unreachable {
		t.Errorf("%+v, unreachable %v", o, r.Unreachable)
	}
}

// A slow response releases its address: it is read to its end, and no further request is made.
func TestSlowExchangeYields(t *testing.T) {
	for _, refused := range []int{0, 2, 1000} {
		var asked atomic.Int64
		h := newHost(t, when(t, func() bool { return asked.Load() > int64(min(refused, 2)) }))
		c := newClient(t, h.clock, func(o *Options) { o.Limits.AddressHold = seconds(0.05) })
		now := ""
		r := h.run(t, c, func(l *Lane) {
			l.LogIntent = func(x crawl.Exchange) error { now = x.URL; return nil }
			l.Yield = func() bool { // on a busy machine other answers, too, take long
				return strings.HasSuffix(now, "/slow") && asked.Add(1) > int64(refused)
			}
		}, targets(h.url("/a"), h.url("/slow"), h.url("/b"))...)
		want := crawl.OutcomeReturned
		if refused == 1000 {
			want = crawl.OutcomeDone
		} else if n := asked.Load(); n != int64(refused)+1 {
			t.Errorf("the lease is given back %d times after %d refusals", n, refused)
		}
		for u, kind := range map[string]crawl.OutcomeKind{"/a": crawl.OutcomeDone, "/slow": crawl.OutcomeDone, "/b": want} {
			if o := r.outcome(t, h.url(u)); o.Kind != kind {
				t.Errorf("%d refusals: %s %+v, want %s", refused, u, o, kind)
			}
		}
		if log := h.log(); r.Next.Sub(log[len(log)-1].at) < pausesForTest().MinDelay.D() {
			t.Error("the host is owed nothing")
		}
	}
}

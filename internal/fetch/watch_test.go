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

// slowBody serves /slow over some 400 ms.
func slowBody(s seen) answer {
	switch s.path {
	case "/robots.txt":
		return answer{}
	case "/slow":
		return answer{wire: page("200 OK", strings.Repeat("x", 40)), drip: 10 * time.Millisecond}
	}
	return answer{wire: page("200 OK", "page")}
}

// An exchange does not outlive its lease: it is cut off, and its URL goes back untried.
func TestLeaseEndCutsTheExchange(t *testing.T) {
	for _, path := range []string{"/slow", "/robots.txt"} {
		h := newHost(t, func(s seen) answer {
			if s.path == path {
				return answer{wire: page("200 OK", strings.Repeat("x", 10_000)), drip: time.Millisecond}
			}
			return slowBody(s)
		})
		var end atomic.Pointer[time.Time]
		lasts := func(d time.Duration) { until := h.clock.now().Add(d); end.Store(&until) }
		lasts(time.Hour)
		r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
			l.ValidUntil = func() time.Time { return *end.Load() }
			l.LogIntent = func(x crawl.Exchange) error {
				if strings.HasSuffix(x.URL, path) {
					lasts(50 * time.Millisecond)
				}
				return nil
			}
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
	}
}

// A lease that is renewed meanwhile lasts.
func TestRenewedLeaseLasts(t *testing.T) {
	h := newHost(t, slowBody)
	var looks atomic.Int64
	r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.LeaseUntil = func() time.Time { looks.Add(1); return h.clock.now().Add(50 * time.Millisecond) }
	}, targets(h.url("/slow"), h.url("/b"))...)
	for _, u := range []string{"/slow", "/b"} {
		if o := r.outcome(t, h.url(u)); o.Kind != crawl.OutcomeDone {
			t.Errorf("%s: %+v", u, o)
		}
	}
	if looks.Load() < 5 {
		t.Errorf("the lease was looked at %d times", looks.Load())
	}
}

// Opening a connection, too, ends with the lease, and says nothing of the host.
func TestLeaseEndsWhileConnecting(t *testing.T) {
	h := newHost(t, slowBody)
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

// A slow answer gives its address up: it is read to its end, and nothing more is asked.
func TestSlowExchangeYields(t *testing.T) {
	for _, refused := range []int{0, 2, 1000} {
		h := newHost(t, slowBody)
		c := newClient(t, h.clock, func(o *Options) { o.Limits.AddressHold = seconds(0.05) })
		asked := 0
		r := h.run(t, c, func(l *Lane) {
			l.Yield = func() bool { asked++; return asked > refused }
		}, targets(h.url("/a"), h.url("/slow"), h.url("/b"))...)
		want := crawl.OutcomeReturned
		if refused == 1000 {
			want = crawl.OutcomeDone
		} else if asked != refused+1 {
			t.Errorf("the lease is given back %d times after %d refusals", asked, refused)
		}
		for u, kind := range map[string]string{"/a": crawl.OutcomeDone, "/slow": crawl.OutcomeDone, "/b": want} {
			if o := r.outcome(t, h.url(u)); o.Kind != kind {
				t.Errorf("%d refusals: %s %+v, want %s", refused, u, o, kind)
			}
		}
		if log := h.log(); r.Next.Sub(log[len(log)-1].at) < politeness().MinDelay.D() {
			t.Error("the host is owed nothing")
		}
	}
}

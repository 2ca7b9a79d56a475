package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// closedPort is an origin that takes no connection until the test's end: its port is that of a connection's own end. The port of a
// listener that was closed could be another process's by now.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	own := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}} // bound before it connects: the system gives the port to nobody else
	c, err := own.DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return "http://" + c.LocalAddr().String()
}

// TestMuteOrigin: if a port is closed, or does not speak TLS, only its own URLs fail.
func TestMuteOrigin(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: page("200 OK", "page")}
	})
	dead := closedPort(t)
	noTLS := "https" + h.url("")[len("http"):]
	for attempts, want := range []crawl.OutcomeKind{crawl.OutcomeRetry, crawl.OutcomeRetry, crawl.OutcomeRetry, crawl.OutcomeFailed} {
		list := targets(dead+"/x", h.url("/a"), dead+"/y", noTLS+"/z", h.url("/b"))
		for i := range list {
			list[i].Attempts = attempts
		}
		r := h.run(t, newClient(t, h.clock, nil), func(l *Lane) { l.Failures = 9 }, list...)
		if r.err != nil || r.Unreachable {
			t.Fatalf("%+v, %v: the host answers", r.Ending, r.err)
		}
		for u, want := range map[string]crawl.OutcomeKind{
			dead + "/x": want, dead + "/y": want, noTLS + "/z": want, h.url("/a"): crawl.OutcomeDone, h.url("/b"): crawl.OutcomeDone,
		} {
			if o := r.outcome(t, u); o.Kind != want {
				t.Errorf("attempt %d of %s: %+v, want %s", attempts+1, u, o, want)
			}
		}
	}
}

// TestMuteOrigins: an address with three closed origins is down, including its other origins.
func TestMuteOrigins(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "page")} })
	var list []string
	for range maxSilentOrigins {
		list = append(list, closedPort(t)+"/")
	}
	r := h.run(t, newClient(t, h.clock, nil), nil, targets(append(list, h.url("/a"))...)...)
	if r.err != nil || !r.Unreachable {
		t.Fatalf("%+v, %v", r.Ending, r.err)
	}
	for _, u := range append(list, h.url("/a")) {
		if o := r.outcome(t, u); o.Kind != crawl.OutcomeReturned {
			t.Errorf("%s: %+v", u, o)
		}
	}
}

func TestIsLocal(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, test := range []struct {
		err  error
		addr netip.Addr
		want bool
	}{
		{syscall.ENETUNREACH, v4, true}, {syscall.ENETUNREACH, v6, false}, {syscall.ENETDOWN, v6, true},
		{syscall.EMFILE, v4, true}, {syscall.ECONNREFUSED, v4, false}, {syscall.EHOSTUNREACH, v4, false},
	} {
		if got := isLocalFailure(fmt.Errorf("%w: %w", errConnect, test.err), test.addr); got != test.want {
			t.Errorf("%v to %s: %v, want %v", test.err, test.addr, got, test.want)
		}
	}
}

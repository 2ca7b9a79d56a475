package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestUnaskedAnswer: bytes that a server sends after its answer without a request are not archived. Later requests use a new
// connection.
func TestUnaskedAnswer(t *testing.T) {
	unasked := page("200 OK", "FAKE")
	half := unasked[:10]
	tests := []struct {
		name string
		send string // what the server sends between two requests
		with bool   // in one write with the answer before it
	}{
		{"an answer", unasked, false},
		{"the beginning of one", half, false},
		{"a time-out", page("408 Request Timeout", "", "Connection: close"), false},
		{"an answer behind the answer", unasked, true},
		{"the end of the connection", "", false},
		{"nothing", "-", false},
	}
	for _, secure := range []bool{false, true} {
		for _, test := range tests {
			name := test.name
			if secure {
				name += ", TLS"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var conns atomic.Int32
				idle := make(chan chan struct{})
				addr := serveRaw(t, secure, func(c net.Conn) {
					conns.Add(1)
					in := bufio.NewReader(c)
					for {
						r, err := http.ReadRequest(in)
						if err != nil {
							return
						}
						out := page("200 OK", "page "+r.URL.Path)
						if test.with {
							out += test.send
						}
						if _, err := c.Write([]byte(out)); err != nil {
							return
						}
						done := <-idle
						switch {
						case done == nil:
							return
						case test.send == "":
							_ = c.Close()
						case test.send != "-" && !test.with:
							_, _ = c.Write([]byte(test.send))
						}
						close(done)
					}
				})
				t.Cleanup(func() { close(idle) })
				var out run
				scheme := "http://"
				if secure {
					scheme = "https://"
				}
				base := scheme + addr.String()
				l := newLane(addr.Addr(), &out, targets(base+"/1", base+"/2", base+"/3")...)
				k := &clock{}
				c := newClient(t, k, nil)
				c.sleep = func(ctx context.Context, until time.Time) error {
					if l.conn != nil { // the server has its turn while the lane rests
						done := make(chan struct{})
						idle <- done
						<-done
						came := test.send != "-" && !test.with
						for end := time.Now().Add(2 * time.Minute); came && l.conn.isIdle(); time.Sleep(time.Millisecond) {
							if time.Now().After(end) {
								t.Error("what the server sent is not seen")
								return context.DeadlineExceeded
							}
						}
					}
					return k.sleep(ctx, until)
				}
				_, err := c.Run(t.Context(), l)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{"/1", "/2", "/3"} {
					if o := out.outcome(t, base+path); o.Kind != crawl.OutcomeDone {
						t.Errorf("%s: %+v", path, o)
					}
				}
				for _, x := range out.all {
					if !strings.HasSuffix(x.response, "page "+strings.TrimPrefix(x.URL, base)) {
						t.Errorf("kept under %s: %q", x.URL, x.response)
					}
				}
				want := int32(4) // a connection for each request, robots.txt included
				if test.send == "-" {
					want = 1
				}
				if got := conns.Load(); got != want {
					t.Errorf("%d connections, want %d", got, want)
				}
			})
		}
	}
}

// serveRaw serves connections on loopback, with TLS if wanted, until the test ends.
func serveRaw(t *testing.T, secure bool, serve func(net.Conn)) netip.AddrPort {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().(*net.TCPAddr).AddrPort()
	if secure {
		s := httptest.NewTLSServer(nil)
		s.Close()
		ln = tls.NewListener(ln, &tls.Config{Certificates: s.TLS.Certificates})
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return addr
}

package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestClosedWhileAChildStarts: a connection that a lane has closed is over for its host, although a child of the process that has not executed
// its program yet has a copy of the socket.
func TestClosedWhileAChildStarts(t *testing.T) {
	answers := func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, page("200 OK", "page"))
		}
	}
	noTLS := func(c net.Conn) {
		_, _ = io.WriteString(c, noRobots)
		_, _ = io.Copy(io.Discard, c) // the host leaves the connection open
	}
	ended := make(chan error, 1)
	endless := func(c net.Conn) {
		in := bufio.NewReader(c)
		for i := 0; ; i++ {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			if i == 0 {
				_, _ = io.WriteString(c, noRobots)
				continue
			}
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for more := make([]byte, 1<<20); err == nil; {
				_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
				_, err = c.Write(more)
			}
			ended <- err
			return
		}
	}
	tests := []struct {
		name, scheme string
		secure       bool
		serve        func(net.Conn)
		kind         crawl.OutcomeKind
	}{
		{name: "HTTP", scheme: "http", serve: answers, kind: crawl.OutcomeDone},
		{name: "TLS", scheme: "https", secure: true, serve: answers, kind: crawl.OutcomeDone},
		{name: "no TLS", scheme: "https", serve: noTLS, kind: crawl.OutcomeReturned},
		{name: "an answer without end", scheme: "http", serve: endless, kind: crawl.OutcomeDone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			addr := serveRaw(t, test.secure, test.serve)
			var copies []*os.File
			c := newClient(t, &clock{}, func(o *Options) {
				o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					inherited, err := conn.(*net.TCPConn).File() // what a fork gives the child
					if err != nil {
						return nil, err
					}
					t.Cleanup(func() { _ = inherited.Close() })
					copies = append(copies, inherited)
					return conn, nil
				}
			})
			var out run
			url := test.scheme + "://" + addr.String() + "/"
			if _, err := c.Run(t.Context(), newLane(addr.Addr(), &out, targets(url)...)); err != nil {
				t.Fatal(err)
			}
			if o := out.outcome(t, url); o.Kind != test.kind {
				t.Errorf("outcome %+v, want %s", o, test.kind)
			}
			if len(copies) == 0 {
				t.Fatal("no connection was opened")
			}
			if strings.HasSuffix(test.name, "without end") {
				if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the host still sends when nobody reads any more: %v", err)
				}
			}
			for i, inherited := range copies {
				if _, err := inherited.Write([]byte{0}); !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("connection %d of %d is still open: what was written to it got the error %v", i+1, len(copies), err)
				}
			}
		})
	}
}

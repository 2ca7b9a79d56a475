package fetch

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock runs with the real one; a wait returns at once and moves it forward.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
	before func() // is called before a wait moves the clock; may be nil
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) sleep(ctx context.Context, until time.Time) error {
	wait := until.Sub(c.now())
	if c.before != nil {
		c.before()
	}
	if wait > 0 {
		c.advance(wait)
	}
	return ctx.Err()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// answer is what a host sends. Afterwards the connection stays open for the next request unless then is
// "close", "reset" or "hang".
type answer struct {
	wire string
	then string
	drip time.Duration // between two bytes of wire that come after its header
}

// seen is a request as a host saw it.
type seen struct {
	path   string
	header http.Header
	raw    string
	at     time.Time // on the host's clock
	conn   int       // number of the connection
	nth    int       // of the requests for this path, from 1
}

// host is a server that speaks raw bytes.
type host struct {
	clock  *clock
	answer func(seen) answer
	ln     net.Listener
	done   chan struct{}
	late   bool     // it notices a request, but for robots.txt, on every other connection when the client has given it up; set before the first one
	dialed sync.Map // the client's ends of connections that were opened with dial, by their address

	mu       sync.Mutex
	requests []seen
	conns    int
	paths    map[string]int
}

const noRobots = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

// page is a complete small answer.
func page(status, body string, header ...string) string {
	var h strings.Builder
	for _, line := range header {
		h.WriteString(line + "\r\n")
	}
	return "HTTP/1.1 " + status + "\r\n" + h.String() + "Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

// newHost serves on a loopback address. answer gives the answer for each path; if it returns nothing for
// robots.txt, the answer is 404.
func newHost(t *testing.T, answer func(seen) answer) *host {
	t.Helper()
	return newHostAt(t, "127.0.0.1", answer)
}

func newHostAt(t *testing.T, ip string, answer func(seen) answer) *host {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{clock: &clock{}, answer: answer, ln: ln, done: make(chan struct{}), paths: map[string]int{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			h.conns++
			n := h.conns
			h.mu.Unlock()
			wg.Go(func() { h.serve(c, n) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		close(h.done)
		wg.Wait()
	})
	return h
}

func (h *host) serve(c net.Conn, n int) {
	stop := make(chan struct{})
	go func() {
		select {
		case <-h.done:
			_ = c.Close()
		case <-stop:
		}
	}()
	defer close(stop)
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		var raw bytes.Buffer
		r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(onebyte{br}, &raw)))
		if err != nil {
			return
		}
		if h.late && r.RequestURI != "/robots.txt" && n%2 == 1 {
			h.tire(c)
			_, _ = c.Read(make([]byte, 1)) // the end of the connection
		}
		h.mu.Lock()
		h.paths[r.RequestURI]++
		s := seen{path: r.RequestURI, header: r.Header, raw: raw.String(), at: h.clock.now(), conn: n, nth: h.paths[r.RequestURI]}
		h.requests = append(h.requests, s)
		h.mu.Unlock()
		a := h.answer(s)
		if a == (answer{}) && s.path == "/robots.txt" {
			a.wire = noRobots
		}
		if !write(c, a) {
			return
		}
		switch a.then {
		case "reset":
			_ = c.(*net.TCPConn).SetLinger(0)
			return
		case "close":
			return
		case "hang":
			h.tire(c)
			<-h.done
			return
		}
	}
}

// onebyte keeps a reader from reading ahead of the request.
type onebyte struct{ r io.Reader }

func (o onebyte) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

func write(c net.Conn, a answer) bool {
	if a.drip == 0 {
		_, err := io.WriteString(c, a.wire)
		return err == nil
	}
	header, body, _ := strings.Cut(a.wire, "\r\n\r\n")
	if _, err := io.WriteString(c, header+"\r\n\r\n"); err != nil {
		return false
	}
	tick := time.NewTicker(a.drip)
	defer tick.Stop()
	for i := range len(body) {
		<-tick.C
		if _, err := io.WriteString(c, body[i:i+1]); err != nil {
			return false
		}
	}
	return true
}

// impatient is a client's end of a connection whose wait for an answer can be ended.
type impatient struct {
	*net.TCPConn
	mu   sync.Mutex
	over bool
}

func (c *impatient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		t = time.Unix(1, 0)
	}
	return c.TCPConn.SetReadDeadline(t)
}

// silent ends a client's wait for an answer that never comes as soon as the host has read the request. So no test takes the real
// time, and other answers may take as long as in crawls, also on a busy machine.
func silent(h *host) func(*Options) {
	return func(o *Options) {
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			out := &impatient{TCPConn: c.(*net.TCPConn)}
			h.dialed.Store(c.LocalAddr().String(), out)
			return out, nil
		}
	}
}

// tire ends the wait of the client at the other end of a connection, if the client was made with silent.
func (h *host) tire(c net.Conn) {
	if other, ok := h.dialed.Load(c.RemoteAddr().String()); ok {
		conn := other.(*impatient)
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.over = true
		_ = conn.TCPConn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (h *host) url(path string) string { return "http://" + h.ln.Addr().String() + path }

func (h *host) addr() netip.Addr { return h.ln.Addr().(*net.TCPAddr).AddrPort().Addr() }

func (h *host) log() []seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]seen(nil), h.requests...)
}

package integration

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// link is a TCP proxy that can be cut: connections stay open then, and no byte passes, as when a network fails.
type link struct {
	target   string
	listener net.Listener

	mu    sync.Mutex
	open  chan struct{} // closed while bytes pass
	conns map[net.Conn]struct{}
	over  bool
}

// newLink serves a proxy at an address until the test's end.
func newLink(t testing.TB, listen, target string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{target: target, listener: listener, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(l.open)
	go l.serve()
	t.Cleanup(l.close)
	return l
}

func (l *link) address() string { return l.listener.Addr().String() }

// cut stops all bytes; join lets them pass again.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
}

func (l *link) join() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.open)
}

func (l *link) passing() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *link) serve() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.connect(near)
	}
}

func (l *link) connect(near net.Conn) {
	if !l.keep(near) {
		return
	}
	defer l.drop(near)
	<-l.passing()
	far, err := net.DialTimeout("tcp", l.target, 5*time.Second)
	if err != nil {
		return // as if the target had refused
	}
	if !l.keep(far) {
		return
	}
	defer l.drop(far)
	ended := make(chan struct{}, 2)
	pass := func(from, to net.Conn) {
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			<-l.passing()
			if n > 0 {
				if _, errWrite := to.Write(buf[:n]); errWrite != nil {
					break
				}
			}
			if err != nil {
				break
			}
		}
		ended <- struct{}{}
	}
	go pass(near, far)
	go pass(far, near)
	<-ended
}

// keep notes a connection; it is closed, and the answer false, if the link is closed.
func (l *link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		_ = c.Close()
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

func (l *link) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	_ = c.Close()
}

func (l *link) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for c := range l.conns {
		_ = c.Close()
	}
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

// TestFreeAddress: the address of a server that is down stays free, whatever port others get that look for one meanwhile.
func TestFreeAddress(t *testing.T) {
	down := freeAddress(t)
	_, port, err := net.SplitHostPort(down)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		other := newLink(t, strings.TrimSuffix(ownAddress(), "0")+port, down) // the port that it could get by chance
		if other.address() == down {
			t.Fatalf("%s is given twice", down)
		}
	}
	newLink(t, down, down)
}

// TestLink: a cut link passes nothing and closes nothing; joined again, it passes what was sent meanwhile.
func TestLink(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	l := newLink(t, "127.0.0.1:0", echo.Addr().String())
	c, err := net.Dial("tcp", l.address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := func(text string) {
		t.Helper()
		buf := make([]byte, len(text))
		if err := c.SetReadDeadline(time.Now().Add(soon)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf); err != nil || string(buf) != text {
			t.Fatalf("the answer is %q, %v, want %q", buf, err, text)
		}
	}
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	send("raven")
	answer("raven")
	l.cut()
	send("crow")
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == io.EOF {
		t.Fatalf("%d bytes pass through a link that is cut: %v", n, err)
	}
	l.join()
	answer("crow")
}

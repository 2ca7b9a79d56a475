package webworld

import (
	"context"
	"net"
	"net/netip"
)

// countingListener reports each connection to the recorder.
type countingListener struct {
	net.Listener
	rec *recorder
}

func (l *countingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: nc, rec: l.rec, ip: localIP(nc)}
	l.rec.opened(c)
	return c, nil
}

// Conn is a server's end of a connection.
type Conn struct {
	net.Conn
	rec    *recorder
	ip     netip.Addr // the site's
	number int        // of all connections of the world, from 1
}

func (c *Conn) Close() error {
	c.rec.closed(c)
	return c.Conn.Close()
}

// Reset makes the next Close send RST instead of FIN.
func (c *Conn) Reset() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(0)
	}
	return nil
}

func localIP(nc net.Conn) netip.Addr {
	return nc.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}

type connKey struct{}

func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

func connOf(ctx context.Context) *Conn { return ctx.Value(connKey{}).(*Conn) }

// listenAll binds the same port on all ips. With port 0 it asks the kernel for a port, and tries another one
// if the port is not free on all ips.
func listenAll(ctx context.Context, ips []netip.Addr, port int) ([]net.Listener, int, error) {
	const tries = 20
	var err error
	for range tries {
		var ls []net.Listener
		got := port
		for _, ip := range ips {
			var l net.Listener
			if l, err = new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(ip, uint16(got)).String()); err != nil {
				break
			}
			ls = append(ls, l)
			got = l.Addr().(*net.TCPAddr).Port
		}
		if err == nil {
			return ls, got, nil
		}
		closeAll(ls)
		if port != 0 {
			break
		}
	}
	return nil, 0, err
}

func closeAll(ls []net.Listener) {
	for _, l := range ls {
		l.Close()
	}
}

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

package fetch

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// isIdle reports whether nothing has come in on an idle connection since its last answer, neither a byte nor its
// end. HTTP/1.1 answers carry no name of their request: what a server sends unasked would be taken for the answer to
// the next request, and archived under its URL (net/http drops such connections, too).
func (c *connection) isIdle() bool {
	if c.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	if secure, ok := c.Conn.(*tls.Conn); ok {
		// With a deadline that has passed, Read gives what lies decrypted in memory and reads nothing more.
		n, err := secure.Read(make([]byte, 1))
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return false
		}
	}
	if c.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	socket, ok := c.raw().(syscall.Conn)
	return !ok || noInputWaiting(socket)
}

// raw is the connection below TLS.
func (c *connection) raw() net.Conn {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return c.Conn
}

//go:build unix

package webworld

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// hungUp reports whether the client has closed or reset the connection. It neither waits nor reads a byte.
func (c *Conn) hungUp() bool {
	tcp, ok := c.Conn.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		waiting := errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
		gone = n <= 0 && !waiting
	})
	return gone || err != nil
}

//go:build unix

package fetch

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// noInputWaiting reports whether a socket has nothing to read. It neither waits nor reads a byte. A socket that the host has closed
// counts as readable.
func noInputWaiting(socket syscall.Conn) bool {
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
	})
	return quiet && err == nil
}

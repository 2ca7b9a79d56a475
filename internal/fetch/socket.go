package fetch

import (
	"io"
	"net"
	"syscall"
	"time"
)

// tcpConn is what *net.TCPConn has.
type tcpConn interface {
	net.Conn
	syscall.Conn
	CloseRead() error
	CloseWrite() error
}

// socket is a connection that is over for its host once it is closed. To close it is not enough: a child that the process starts, such as a
// browser, has copies of all its sockets until it has executed its program, and a connection stays open as long as there is a copy.
// On a busy machine that can take longer than a pause, and the host would see the connection of the next lane beside this one.
type socket struct{ tcpConn }

func (s socket) Close() error {
	_ = s.CloseWrite() // ends the connection for all copies; it fails if the host has ended it before
	if s.CloseRead() == nil {
		// A host that is still sending is refused now, but not before there is room for what it sends.
		_ = s.SetReadDeadline(time.Now().Add(drainTime))
		_, _ = io.CopyN(io.Discard, s.tcpConn, drainBytes)
	}
	return s.tcpConn.Close()
}

// drainTime and drainBytes bound what is read of a connection that is over: what has arrived, so that no read waits, and the largest buffers of a socket are a few megabytes.
const (
	drainTime  = 100 * time.Millisecond
	drainBytes = 16 << 20
)

package fetch

import (
	"net"
	"syscall"
)

// tcpConn is what *net.TCPConn has.
type tcpConn interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// socket is a connection that is over for its host once it is closed. To close it is not enough: a child that the process starts, such as a
// browser, has copies of all its sockets until it has executed its program, and a connection stays open as long as there is a copy.
// On a busy machine that can take longer than a pause, and the host would see the connection of the next lane beside this one.
type socket struct{ tcpConn }

func (s socket) Close() error {
	_ = s.CloseWrite() // ends the connection for all copies; it fails if the host has ended it before
	return s.tcpConn.Close()
}

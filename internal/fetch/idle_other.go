//go:build !unix

package fetch

import "syscall"

// nothingWaits is not to be known on this system: no connection is used again.
func nothingWaits(syscall.Conn) bool { return false }
